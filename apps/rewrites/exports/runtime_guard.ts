/** The guard that breaks the loop on a repeated identical (tool, arguments, error). */
import { isObject } from "./runtime_template.ts";
import type { Envelope, Json } from "./runtime_template.ts";

/**
 * Ask `before` each call, tell `after` it. Any other call of the same run in between
 * ends the loop, except of a tool in `siblings`.
 */
export class LoopGuard {
  private last = "";
  private error: Envelope | null = null;
  private count = 0;

  /** Let a call fail `limit` times in the same way, then refuse it. */
  constructor(
    private readonly limit = 2,
    private readonly siblings: readonly string[] = [],
  ) {}

  /** An envelope to answer with instead of the call, or null: go ahead. */
  before(tool: string, args: Json): Envelope | null {
    const same = keyOf(tool, args) === this.last;
    if (!same || this.count < this.limit || this.error === null) return null;
    return {
      ...this.error,
      directive: "never",
      nextAction: "escalate",
      notBefore: "",
      owner: "model",
      alternativeTool: "",
      agentMessage:
        `This exact call failed ${this.count} times with ${this.error.code} ` +
        "and was not made again. Do not repeat it; hand over to a person.",
    };
  }

  /** Count what a call came back with; null: it succeeded. */
  after(tool: string, args: Json, error: Envelope | null): void {
    const key = keyOf(tool, args);
    if (this.siblings.includes(tool) && key !== this.last) return;
    const same =
      error !== null && key === this.last && error.code === this.error?.code;
    this.count = same ? this.count + 1 : error ? 1 : 0;
    this.last = key;
    this.error = error;
  }
}

function keyOf(tool: string, args: Json): string {
  return canonical([tool, args]);
}

/** One spelling for equal JSON values: keys sorted, no blanks. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (isObject(value)) {
    const rows = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
    return `{${rows.join(",")}}`;
  }
  return JSON.stringify(value);
}
