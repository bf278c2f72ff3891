/**
 * Error envelopes of a catalogue, as a tool makes them.
 *
 *     try {
 *       return toMcp(success(await pay(args), ref));
 *     } catch (reason) {
 *       return toMcp(failure("refund.too_high", { limit: reason.limit }));
 *     }
 */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}
export type Scalar = string | number | boolean | null;
export type Details = Record<string, Scalar | Scalar[]>;

export const CATEGORIES = [
  "validation",
  "authorization",
  "conflict",
  "dependency",
  "internal",
  "not_found",
  "limit",
  "cancelled",
] as const;
export const COMMIT_STATES = [
  "not_committed",
  "committed",
  "unknown",
  "not_applicable",
] as const;
export const DIRECTIVES = [
  "never",
  "after_delay",
  "after_input_fix",
  "after_verification",
  "after_approval",
] as const;
export const NEXT_ACTIONS = [
  "correct_input",
  "wait_and_retry",
  "switch_tool",
  "verify_operation",
  "ask_user",
  "request_approval",
  "escalate",
  "stop",
] as const;
export const OWNERS = ["runtime", "model"] as const;
export type Category = (typeof CATEGORIES)[number];
export type CommitState = (typeof COMMIT_STATES)[number];
export type Directive = (typeof DIRECTIVES)[number];
export type NextAction = (typeof NEXT_ACTIONS)[number];
export type Owner = (typeof OWNERS)[number];

export interface TextEntry {
  version: number;
  agent_message: string;
  user_message: string;
}
export interface CodeEntry {
  exported_code: string;
  title: string;
  tool: string;
  category: Category;
  commit_state: CommitState;
  directive: Directive;
  next_action: NextAction;
  alternative_tool: string;
  max_attempts: number | null;
  safe_details: string[];
  help_url: string;
  texts: TextEntry[];
}
export interface ToolEntry {
  read_only: boolean | null;
  destructive: boolean | null;
  idempotent: boolean | null;
  verification_tool: string;
}
export interface Catalogue {
  content_hash: string;
  format_version: number;
  name: string;
  version: string;
  domain: string;
  problem_base: string;
  codes: Record<string, CodeEntry>;
  tools: Record<string, ToolEntry>;
}

// <catalogue>
export const CATALOGUE: Catalogue = {
  content_hash: "0".repeat(64),
  format_version: 1,
  name: "example",
  version: "1",
  domain: "example.com",
  problem_base: "urn:errata:example.com:problem:",
  codes: {},
  tools: {},
};
// </catalogue>

/** A use of the catalogue that its contract forbids; the message says why. */
export class ContractError extends Error {}

/** One failure. "" and null: not said. `detailRef` is for people, in no rendering. */
export interface Envelope {
  code: string;
  category: Category;
  commitState: CommitState;
  directive: Directive;
  nextAction: NextAction;
  agentMessage: string;
  userMessage: string;
  domain: string;
  notBefore: string;
  maxAttemptsRemaining: number | null;
  owner: Owner | "";
  alternativeTool: string;
  operationRef: string;
  safeDetails: Details;
  textVersion: number;
  catalogueVersion: string;
  detailRef: string;
}

/** A result; an empty one is a success too. A write names its operation. */
export interface Success {
  result: Json;
  operationRef: string;
  commitState: "committed" | "not_applicable";
  checkedAt: string;
  evidenceRef: string;
}

export type Answer = Envelope | Success;

export function isFailure(answer: Answer): answer is Envelope {
  return "code" in answer;
}

/** The flag for consumers that know no more; derived, never stored. */
export function isRetryable(envelope: Envelope): boolean {
  return envelope.directive !== "never";
}

/** The JSON form, without what is empty and without `detailRef`. */
export function toJson(envelope: Envelope): JsonObject {
  const retry: JsonObject = { directive: envelope.directive };
  if (envelope.notBefore) retry["not_before"] = envelope.notBefore;
  if (envelope.maxAttemptsRemaining !== null) {
    retry["max_attempts_remaining"] = envelope.maxAttemptsRemaining;
  }
  if (envelope.owner) retry["owner"] = envelope.owner;
  const plain: JsonObject = {
    ok: false,
    code: envelope.code,
    domain: envelope.domain,
    category: envelope.category,
    commit_state: envelope.commitState,
    retry,
    retryable: isRetryable(envelope),
    next_action: envelope.nextAction,
    agent_message: envelope.agentMessage,
    text_version: envelope.textVersion,
    catalogue_version: envelope.catalogueVersion,
  };
  if (envelope.alternativeTool) plain["alternative_tool"] = envelope.alternativeTool;
  if (envelope.operationRef) plain["operation_ref"] = envelope.operationRef;
  if (envelope.userMessage) plain["user_message"] = envelope.userMessage;
  if (Object.keys(envelope.safeDetails).length > 0) {
    plain["safe_details"] = { ...envelope.safeDetails };
  }
  return plain;
}

/** Read what `toJson` wrote, nested or flat; refuses a value that no enum has. */
export function fromJson(plain: JsonObject): Envelope {
  const retry = isObject(plain["retry"]) ? plain["retry"] : {};
  const all: JsonObject = { ...plain, ...retry };
  const left = all["max_attempts_remaining"];
  const owner = text(all, "owner");
  return {
    code: text(all, "code"),
    category: oneOf(CATEGORIES, "category", all["category"]),
    commitState: oneOf(COMMIT_STATES, "commit_state", all["commit_state"]),
    directive: oneOf(DIRECTIVES, "directive", all["directive"]),
    nextAction: oneOf(NEXT_ACTIONS, "next_action", all["next_action"]),
    agentMessage: text(all, "agent_message"),
    userMessage: text(all, "user_message"),
    domain: text(all, "domain"),
    notBefore: text(all, "not_before"),
    maxAttemptsRemaining: typeof left === "number" ? left : null,
    owner: owner === "" ? "" : oneOf(OWNERS, "owner", owner),
    alternativeTool: text(all, "alternative_tool"),
    operationRef: text(all, "operation_ref"),
    safeDetails: isObject(all["safe_details"]) ? (all["safe_details"] as Details) : {},
    textVersion: Number(all["text_version"] ?? 0),
    catalogueVersion: text(all, "catalogue_version"),
    detailRef: "",
  };
}

export function successToJson(success: Success): JsonObject {
  const plain: JsonObject = {
    ok: true,
    operation_ref: success.operationRef,
    commit_state: success.commitState,
    result: success.result,
  };
  if (success.checkedAt) {
    plain["verification"] = {
      checked_at: success.checkedAt,
      evidence_ref: success.evidenceRef,
    };
  }
  return plain;
}

export function successFromJson(plain: JsonObject): Success {
  const checked = isObject(plain["verification"]) ? plain["verification"] : {};
  const states = ["committed", "not_applicable"] as const;
  return {
    result: plain["result"] ?? null,
    operationRef: text(plain, "operation_ref"),
    commitState: oneOf(states, "commit_state", plain["commit_state"]),
    checkedAt: text(checked, "checked_at"),
    evidenceRef: text(checked, "evidence_ref"),
  };
}

/** A result. With a reference it is a write that took effect, else a read. */
export function success(result: Json, operationRef = ""): Success {
  const commitState = operationRef ? "committed" : "not_applicable";
  return { result, operationRef, commitState, checkedAt: "", evidenceRef: "" };
}

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;
const SECRET = new RegExp(
  "-----BEGIN|\\bsk-[A-Za-z0-9_-]{16}|\\b(?:sk|rk)_(?:live|test)_|\\bgh[pousr]_\\w{20}" +
    "|\\bgithub_pat_|\\bglpat-|\\bxox[abprs]-|\\bA(?:KIA|SIA)[A-Z2-7]{16}" +
    "|\\bAIza\\w{20}|\\beyJ[\\w-]{10,}\\.eyJ|://[^\\s/:@]{0,80}:[^\\s/@]{1,80}@",
);
const NAMED_SECRET =
  /\bbearer\s+\S{12}|\b(?:password|passwd|pwd|secret|api[_-]?key|token)\s*[=:]\s*\S/i;
const ADDRESSES_MODEL = new RegExp(
  "\\b(?:ignore|disregard|forget|override)\\b.{0,40}\\b(?:previous|prior|above|all" +
    "|your|system)\\b.{0,30}\\b(?:instruction|prompt|rule|message|polic)" +
    "|you are now\\b|<\\/?(?:system|instructions?|assistant)>|system prompt" +
    "|\\[/?INST\\]|<\\|im_",
  "i",
);
const LONGEST_DETAIL = 200;

export interface FailureOptions {
  operationRef?: string;
  /** What this occurrence is known to have done, where it differs from the code's. */
  commitState?: CommitState;
  waitSeconds?: number;
  /** Epoch milliseconds; now, if it is not given. */
  receivedAt?: number;
  maxAttemptsRemaining?: number;
  detailRef?: string;
}

/**
 * Make the envelope of a code, with its newest text.
 *
 * Throws ContractError for a code that is not in the catalogue, a detail that is not
 * on the code's list or looks like a secret, a missing one, or a wait in the past.
 * If the effect is unknown, nothing may be repeated unseen: the envelope then asks to
 * verify, unless the tool is idempotent under the reference.
 */
export function failure(
  code: string,
  details: Details = {},
  options: FailureOptions = {},
): Envelope {
  const entry = own(CATALOGUE.codes, code);
  const newest = entry?.texts[entry.texts.length - 1];
  if (!entry || !newest) {
    throw new ContractError(`The code '${code}' is not in the catalogue.`);
  }
  checkDetails(code, details, entry.safe_details);
  const operationRef = options.operationRef ?? "";
  const state = options.commitState ?? entry.commit_state;
  const tool = own(CATALOGUE.tools, entry.tool);
  const repeatable =
    tool?.read_only === true || (tool?.idempotent === true && operationRef !== "");
  const mustLook =
    state === "unknown" && entry.directive === "after_delay" && !repeatable;
  const directive = mustLook ? "after_verification" : entry.directive;
  const afterDelay = directive === "after_delay";
  return {
    code,
    category: entry.category,
    commitState: state,
    directive,
    nextAction: mustLook ? "verify_operation" : entry.next_action,
    agentMessage: filled(code, newest.agent_message, details),
    userMessage: filled(code, newest.user_message, details),
    domain: CATALOGUE.domain,
    notBefore: afterDelay ? absolute(options.waitSeconds, options.receivedAt) : "",
    maxAttemptsRemaining: options.maxAttemptsRemaining ?? entry.max_attempts,
    owner: afterDelay ? "runtime" : "model",
    alternativeTool: entry.alternative_tool,
    operationRef,
    safeDetails: { ...details },
    textVersion: newest.version,
    catalogueVersion: CATALOGUE.version,
    detailRef: options.detailRef ?? "",
  };
}

function checkDetails(code: string, given: Details, allowed: string[]): void {
  for (const [name, value] of Object.entries(given)) {
    if (!allowed.includes(name)) {
      throw new ContractError(`${code} allows no detail '${name}'.`);
    }
    for (const item of Array.isArray(value) ? value : [value]) {
      const shown = String(item);
      if (shown.length > LONGEST_DETAIL || shown.includes("\n")) {
        throw new ContractError(`The detail '${name}' is no short line.`);
      }
      const named = `${name}=${shown}`;
      if (SECRET.test(shown) || NAMED_SECRET.test(shown) || NAMED_SECRET.test(named)) {
        throw new ContractError(`The detail '${name}' looks like a secret.`);
      }
      if (ADDRESSES_MODEL.test(shown)) {
        throw new ContractError(`The detail '${name}' addresses the model.`);
      }
    }
  }
}

function filled(code: string, template: string, given: Details): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = own(given, name);
    if (value === undefined) {
      throw new ContractError(`${code} needs the detail '${name}'.`);
    }
    return (Array.isArray(value) ? value : [value]).map(String).join(", ");
  });
}

function absolute(seconds: number | undefined, receivedAt: number | undefined): string {
  if (seconds === undefined) return "";
  if (!(seconds >= 0 && seconds < 366 * 86400)) {
    throw new ContractError("A wait is 0 seconds or more, and less than a year.");
  }
  return iso((receivedAt ?? Date.now()) / 1000 + seconds);
}

/** Epoch seconds as ISO 8601 in UTC; a part of a second is a second more. */
export function iso(epoch: number): string {
  return new Date(Math.ceil(epoch) * 1000).toISOString().replace(".000Z", "Z");
}

/** The reverse of `iso`. */
export function epochOf(moment: string): number {
  return Date.parse(moment) / 1000;
}

/** An entry of a map, but nothing that every object has (`constructor`). */
export function own<T>(map: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(plain: JsonObject, name: string): string {
  const value = plain[name];
  return typeof value === "string" ? value : "";
}

function oneOf<T extends string>(
  allowed: readonly T[],
  name: string,
  value: Json | undefined,
): T {
  const found = allowed.find((item) => item === value);
  if (found === undefined) throw new ContractError(`${name} cannot be '${value}'.`);
  return found;
}
