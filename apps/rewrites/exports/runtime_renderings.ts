/**
 * An envelope in the forms that agents and services take, each with its way back.
 *
 * Code, domain, state, directive, next action and operation reference survive every
 * round trip. The forms that only a model reads leave out the customer's message.
 */
import {
  CATALOGUE,
  ContractError,
  epochOf,
  fromJson,
  isFailure,
  isObject,
  isRetryable,
  own,
  successFromJson,
  successToJson,
  text,
  toJson,
} from "./runtime_template.ts";
import type { Answer, Category, Envelope, Json, JsonObject } from "./runtime_template.ts";

// Short names for a model's context, which pays for each of them on every request.
const SHORT: readonly (readonly [string, string])[] = [
  ["code", "code"],
  ["message", "agent_message"],
  ["next", "next_action"],
  ["commit_state", "commit_state"],
  ["directive", "directive"],
  ["not_before", "not_before"],
  ["attempts_left", "max_attempts_remaining"],
  ["use_tool", "alternative_tool"],
  ["operation_ref", "operation_ref"],
  ["details", "safe_details"],
  ["category", "category"],
  ["domain", "domain"],
  ["owner", "owner"],
  ["text_version", "text_version"],
  ["catalogue_version", "catalogue_version"],
];

/** The JSON form with the fields of `retry` beside the others. */
function flat(envelope: Envelope): JsonObject {
  const plain = toJson(envelope);
  const retry = isObject(plain["retry"]) ? plain["retry"] : {};
  return { ...plain, ...retry };
}

/** One line of JSON: what a model reads. */
export function toCompact(answer: Answer): string {
  if (!isFailure(answer)) return JSON.stringify(successToJson(answer));
  const all = flat(answer);
  const plain: JsonObject = { ok: false, retryable: isRetryable(answer) };
  for (const [short, name] of SHORT) {
    const value = all[name];
    if (value !== undefined && value !== "") plain[short] = value;
  }
  return JSON.stringify(plain);
}

/** Read what `toCompact` wrote. */
export function fromCompact(content: string): Answer {
  const plain = loaded(content);
  if (plain["ok"] === true) return successFromJson(plain);
  const fields: JsonObject = {};
  for (const [short, name] of SHORT) {
    const value = plain[short];
    if (value !== undefined) fields[name] = value;
  }
  return fromJson(fields);
}

/** An Anthropic `tool_result` block. */
export function toAnthropic(answer: Answer, toolUseId: string): JsonObject {
  const content = toCompact(answer);
  const block = { type: "tool_result", tool_use_id: toolUseId, content };
  return isFailure(answer) ? { ...block, is_error: true } : block;
}

/** Read a `tool_result` block; its content may be text or blocks of text. */
export function fromAnthropic(block: JsonObject): Answer {
  const content = block["content"];
  if (!Array.isArray(content)) return fromCompact(String(content));
  const parts = content.map((part) => (isObject(part) ? text(part, "text") : ""));
  return fromCompact(parts.join(""));
}

/** An OpenAI message of role `tool`; it has no flag, so the content says it. */
export function toOpenai(answer: Answer, toolCallId: string): JsonObject {
  return { role: "tool", tool_call_id: toolCallId, content: toCompact(answer) };
}

/** Read a message of role `tool`. */
export function fromOpenai(message: JsonObject): Answer {
  return fromCompact(text(message, "content"));
}

/** An MCP tool result: text for the reader, the envelope as structured content. */
export function toMcp(answer: Answer): JsonObject {
  if (!isFailure(answer)) {
    const plain = successToJson(answer);
    const content = [textFor("assistant", JSON.stringify(plain))];
    return { content, structuredContent: plain, isError: false };
  }
  const content = [textFor("assistant", answer.agentMessage)];
  if (answer.userMessage) content.push(textFor("user", answer.userMessage));
  return { content, structuredContent: toJson(answer), isError: true };
}

/** Read an MCP tool result by its structured content. */
export function fromMcp(result: JsonObject): Answer {
  const plain = result["structuredContent"];
  if (!isObject(plain) || !("ok" in plain)) {
    throw new ContractError("The result has no envelope as structuredContent.");
  }
  return plain["ok"] === true ? successFromJson(plain) : fromJson(plain);
}

function textFor(audience: string, words: string): JsonObject {
  return { type: "text", text: words, annotations: { audience: [audience] } };
}

export const STATUS_BY_CATEGORY: Record<Category, number> = {
  validation: 422,
  authorization: 403,
  conflict: 409,
  dependency: 503,
  internal: 500,
  not_found: 404,
  limit: 429,
  cancelled: 499,
};

/** RFC 9457 `application/problem+json`; our fields are extension members. */
export function toProblem(envelope: Envelope, instance = ""): JsonObject {
  const { ok: _ok, agent_message: detail, ...plain } = toJson(envelope);
  const problem: JsonObject = {
    type: CATALOGUE.problem_base + envelope.code,
    title: own(CATALOGUE.codes, envelope.code)?.title ?? envelope.code,
    status: STATUS_BY_CATEGORY[envelope.category],
    detail: detail ?? "",
    ...plain,
  };
  return instance ? { ...problem, instance } : problem;
}

/** Read a problem; where `code` is missing, the type's last part is the code. */
export function fromProblem(problem: JsonObject): Envelope {
  const lastPart = text(problem, "type").split(/[/:#]/).pop() ?? "";
  const code = text(problem, "code") || lastPart;
  return fromJson({ ...problem, code, agent_message: text(problem, "detail") });
}

export const RPC_BY_CATEGORY: Record<Category, number> = {
  validation: 3,
  authorization: 7,
  conflict: 10,
  dependency: 14,
  internal: 13,
  not_found: 5,
  limit: 8,
  cancelled: 1,
};
const TYPE = "type.googleapis.com/google.rpc.";
// `metadata` is a map of strings whose keys begin in lower case (AIP-193).
const METADATA: readonly (readonly [string, string])[] = [
  ["code", "code"],
  ["category", "category"],
  ["commitState", "commit_state"],
  ["directive", "directive"],
  ["nextAction", "next_action"],
  ["notBefore", "not_before"],
  ["owner", "owner"],
  ["alternativeTool", "alternative_tool"],
  ["operationRef", "operation_ref"],
  ["catalogueVersion", "catalogue_version"],
];

/** `google.rpc.Status` as JSON, each detail type at most once (AIP-193). */
export function toRpcStatus(envelope: Envelope, now = Date.now() / 1000): JsonObject {
  const entry = own(CATALOGUE.codes, envelope.code);
  const all = flat(envelope);
  const metadata: JsonObject = {};
  for (const [key, name] of METADATA) {
    const value = all[name];
    if (value) metadata[key] = value;
  }
  metadata["textVersion"] = String(envelope.textVersion);
  if (envelope.maxAttemptsRemaining !== null) {
    metadata["maxAttemptsRemaining"] = String(envelope.maxAttemptsRemaining);
  }
  if (Object.keys(envelope.safeDetails).length > 0) {
    metadata["safeDetails"] = JSON.stringify(envelope.safeDetails);
  }
  const reason = entry?.exported_code ?? envelope.code;
  const domain = envelope.domain;
  const details: Json[] = [{ "@type": `${TYPE}ErrorInfo`, reason, domain, metadata }];
  if (envelope.notBefore) {
    const seconds = Math.max(0, Math.round(epochOf(envelope.notBefore) - now));
    details.push({ "@type": `${TYPE}RetryInfo`, retryDelay: `${seconds}s` });
  }
  if (envelope.userMessage) {
    const message = envelope.userMessage;
    details.push({ "@type": `${TYPE}LocalizedMessage`, locale: "en", message });
  }
  if (entry?.help_url) {
    const links = [{ description: entry.title, url: entry.help_url }];
    details.push({ "@type": `${TYPE}Help`, links });
  }
  const code = RPC_BY_CATEGORY[envelope.category];
  return { code, message: envelope.agentMessage, details };
}

/** Read a Status that `toRpcStatus` wrote. */
export function fromRpcStatus(status: JsonObject): Envelope {
  const found = new Map<string, JsonObject>();
  const details = status["details"];
  for (const part of Array.isArray(details) ? details : []) {
    if (isObject(part)) found.set(text(part, "@type").split(".").pop() ?? "", part);
  }
  const info = found.get("ErrorInfo");
  if (info === undefined) throw new ContractError("The status has no ErrorInfo.");
  const metadata = isObject(info["metadata"]) ? info["metadata"] : {};
  const fields: JsonObject = { code: text(info, "reason") };
  for (const [key, name] of METADATA) {
    const value = metadata[key];
    if (value !== undefined) fields[name] = value;
  }
  const left = metadata["maxAttemptsRemaining"];
  if (typeof left === "string") fields["max_attempts_remaining"] = Number(left);
  const localized = found.get("LocalizedMessage");
  return fromJson({
    ...fields,
    domain: text(info, "domain"),
    agent_message: text(status, "message"),
    user_message: localized ? text(localized, "message") : "",
    text_version: Number(metadata["textVersion"] ?? 0),
    safe_details: loaded(text(metadata, "safeDetails") || "{}"),
  });
}

function loaded(content: string): JsonObject {
  let plain: Json;
  try {
    plain = JSON.parse(content) as Json;
  } catch (error) {
    throw new ContractError(`The content is no JSON: ${String(error)}.`);
  }
  if (!isObject(plain)) throw new ContractError("The content is no JSON object.");
  return plain;
}
