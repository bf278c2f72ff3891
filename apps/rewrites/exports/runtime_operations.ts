/**
 * The write runtime: no write is sent twice unless it is proven to have had no effect.
 *
 * - The operation's reference is made and stored before the first write.
 * - Each next action leads to one state; `advance` takes one step at a time.
 * - Waits belong to the scheduler: `advance` before the time does nothing.
 * - After an unknown outcome (a time-out, a crash) the effect is looked up first.
 * - Attempts and look-ups are bounded; what is left over is escalated, an end.
 */
import { canonical } from "./runtime_guard.ts";
import { ContractError, epochOf, iso, text, toJson } from "./runtime_template.ts";
import type { Envelope, Json, NextAction, Success } from "./runtime_template.ts";
import { newOperation, OPEN, TERMINAL } from "./runtime_stores.ts";
import type { Operation, OperationState, OperationStore } from "./runtime_stores.ts";

/** What a `send` throws when the tool says that it failed, and how. */
export class ToolError extends Error {
  constructor(readonly envelope: Envelope) {
    super(`${envelope.code}: ${envelope.agentMessage}`);
  }
}

/** Throws ToolError, or anything else if the outcome is not known (a time-out …). */
export type Send = (args: Json, ref: string) => Promise<Json>;
export interface Checked {
  outcome: "committed" | "absent" | "unknown";
  result?: Json;
  evidenceRef?: string;
}
/** Looks up whether the operation took effect; throwing counts as "unknown". */
export type Verify = (ref: string) => Promise<Checked>;

const STATE_AFTER: Record<NextAction, OperationState> = {
  correct_input: "needs_input",
  wait_and_retry: "waiting",
  switch_tool: "switched",
  verify_operation: "verifying",
  ask_user: "needs_user",
  request_approval: "needs_approval",
  escalate: "escalated",
  stop: "stopped",
};

export interface RuntimeOptions {
  maxAttempts?: number;
  maxChecks?: number;
  firstWaitSeconds?: number;
  /** How long an attempt may be under way before its program is taken for dead. */
  leaseSeconds?: number;
  /** An approval that did not come within this time is escalated. */
  approvalSeconds?: number;
  /** Epoch seconds. */
  clock?: () => number;
  newRef?: () => string;
}

function uuid(): string {
  const host = globalThis as unknown as { crypto: { randomUUID(): string } };
  return host.crypto.randomUUID();
}

/** Carries operations to their end; any number of programs may share a store. */
export class WriteRuntime {
  private readonly options: Required<RuntimeOptions>;

  constructor(
    private readonly store: OperationStore,
    options: RuntimeOptions = {},
  ) {
    this.options = {
      maxAttempts: 3,
      maxChecks: 5,
      firstWaitSeconds: 1,
      leaseSeconds: 60,
      approvalSeconds: 86400,
      clock: () => Date.now() / 1000,
      newRef: uuid,
      ...options,
    };
  }

  /**
   * Make the reference and store the operation. Nothing is sent yet.
   *
   * With a known `ref` and the same call the known operation comes back; the same
   * reference for another call is refused.
   */
  async begin(tool: string, args: Json, ref = ""): Promise<Operation> {
    const operation = newOperation(ref || this.options.newRef(), tool, args);
    const known = await this.store.get(operation.ref);
    if (known === null) {
      await this.store.add(operation);
      return operation;
    }
    if (known.tool !== tool || canonical(known.args) !== canonical(args)) {
      throw new ContractError(`The reference '${ref}' belongs to another call.`);
    }
    return known;
  }

  /** Take the next step, if it is due. */
  async advance(ref: string, send: Send, verify: Verify): Promise<Operation> {
    const operation = await this.known(ref);
    const { state } = operation;
    if (TERMINAL.includes(state) || state === "needs_input" || state === "needs_user") {
      return operation;
    }
    if (this.options.clock() < operation.due) return operation;
    if (state === "needs_approval") {
      return this.stored({ ...operation, state: "escalated" });
    }
    if (state === "verifying" || operation.mayHaveWritten) {
      return this.verify(operation, verify);
    }
    return this.send(operation, send);
  }

  /** Advance until it is over, rests, or somebody else must act. */
  async run(ref: string, send: Send, verify: Verify): Promise<Operation> {
    for (;;) {
      const before = await this.store.get(ref);
      const after = await this.advance(ref, send, verify);
      if (before?.version === after.version || TERMINAL.includes(after.state)) {
        return after;
      }
    }
  }

  /** After a restart, and from time to time: go on with all that is unfinished. */
  async resume(send: Send, verify: Verify): Promise<Operation[]> {
    const done: Operation[] = [];
    for (const operation of await this.store.unfinished()) {
      done.push(await this.run(operation.ref, send, verify));
    }
    return done;
  }

  /**
   * Go on with other arguments, under a new reference: the old one stands for the
   * old arguments, and a server that knows it would replay the old answer.
   */
  async correct(ref: string, args: Json): Promise<Operation> {
    const operation = await this.waitingFor(ref, ["needs_input", "needs_user"]);
    const fresh = newOperation(this.options.newRef(), operation.tool, args);
    await this.store.add(fresh);
    await this.stored({ ...operation, state: "replaced", replacedBy: fresh.ref });
    return fresh;
  }

  /** Go on after a person said yes. */
  async approve(ref: string): Promise<Operation> {
    const operation = await this.waitingFor(ref, ["needs_approval"]);
    return this.stored({ ...operation, state: "ready", due: 0 });
  }

  /** End it: a person said no, or nobody answered. */
  async refuse(ref: string): Promise<Operation> {
    const operation = await this.waitingFor(ref, OPEN);
    return this.stored({ ...operation, state: "stopped" });
  }

  /** The success envelope of an operation that took effect, else null. */
  async answer(ref: string): Promise<Success | null> {
    const operation = await this.store.get(ref);
    if (operation?.state !== "committed") return null;
    return {
      result: operation.result,
      operationRef: operation.ref,
      commitState: "committed",
      checkedAt: operation.checkedAt,
      evidenceRef: operation.evidenceRef,
    };
  }

  private async send(operation: Operation, send: Send): Promise<Operation> {
    if (operation.attempts >= this.options.maxAttempts) {
      return this.stored({ ...operation, state: "escalated" });
    }
    // Stored before it goes out: whoever finds this later must look first.
    const sent = await this.store.put({
      ...operation,
      state: "dispatched",
      attempts: operation.attempts + 1,
      mayHaveWritten: true,
      due: this.options.clock() + this.options.leaseSeconds,
    });
    if (sent === null) return this.known(operation.ref);
    try {
      const result = await send(sent.args, sent.ref);
      return await this.stored({ ...sent, state: "committed", result });
    } catch (reason) {
      if (reason instanceof ToolError) return this.failed(sent, reason.envelope);
      const error = { code: nameOf(reason), commit_state: "unknown" };
      return this.stored({ ...sent, state: "verifying", due: 0, error });
    }
  }

  /** One transition for the next action; an unknown effect comes before it. */
  private async failed(sent: Operation, envelope: Envelope): Promise<Operation> {
    const failed: Operation = { ...sent, error: toJson(envelope), due: 0 };
    if (envelope.commitState === "unknown" || envelope.commitState === "committed") {
      return this.stored({ ...failed, state: "verifying" });
    }
    const state = STATE_AFTER[envelope.nextAction];
    failed.mayHaveWritten = state === "verifying";
    if (state === "waiting") {
      const none = envelope.maxAttemptsRemaining === 0;
      if (none || sent.attempts >= this.options.maxAttempts) {
        return this.stored({ ...failed, state: "escalated" });
      }
      const wait = this.options.firstWaitSeconds * 2 ** (sent.attempts - 1);
      const due = envelope.notBefore ? epochOf(envelope.notBefore) : 0;
      failed.due = Math.max(due, this.options.clock() + wait);
    }
    return this.stored(this.entered(failed, state));
  }

  private entered(operation: Operation, state: OperationState): Operation {
    const { clock, approvalSeconds } = this.options;
    const due = state === "needs_approval" ? clock() + approvalSeconds : operation.due;
    return { ...operation, state, due };
  }

  private async verify(operation: Operation, verify: Verify): Promise<Operation> {
    if (operation.checks >= this.options.maxChecks) {
      return this.stored({ ...operation, state: "escalated" });
    }
    const checking = await this.store.put({
      ...operation,
      state: "verifying",
      checks: operation.checks + 1,
      due: this.options.clock() + this.options.leaseSeconds,
    });
    if (checking === null) return this.known(operation.ref);
    let found: Checked;
    try {
      found = await verify(checking.ref);
    } catch {
      found = { outcome: "unknown" }; // a look-up that fails tells nothing
    }
    const evidenceRef = found.evidenceRef ?? "";
    if (found.outcome === "committed") {
      const checkedAt = iso(this.options.clock());
      const result = found.result ?? null;
      const state = "committed" as const;
      return this.stored({ ...checking, state, result, checkedAt, evidenceRef });
    }
    if (found.outcome === "absent") {
      return this.stored(this.afterAbsent({ ...checking, evidenceRef }));
    }
    const wait = this.options.firstWaitSeconds * 2 ** (checking.checks - 1);
    return this.stored({ ...checking, due: this.options.clock() + wait });
  }

  /** Nothing happened: send again, unless the last failure asks for other. */
  private afterAbsent(checking: Operation): Operation {
    const proven = { ...checking, mayHaveWritten: false, due: 0 };
    const action = text(checking.error, "next_action") || "verify_operation";
    if (action === "verify_operation" || action === "wait_and_retry") {
      return { ...proven, state: "ready" };
    }
    return this.entered(proven, STATE_AFTER[action as NextAction]);
  }

  private async waitingFor(
    ref: string,
    states: readonly OperationState[],
  ): Promise<Operation> {
    const operation = await this.known(ref);
    if (!states.includes(operation.state)) {
      throw new ContractError(`The operation '${ref}' is ${operation.state}.`);
    }
    return operation;
  }

  /** Store a step; if another program went on meanwhile, its step stands. */
  private async stored(operation: Operation): Promise<Operation> {
    return (await this.store.put(operation)) ?? this.known(operation.ref);
  }

  private async known(ref: string): Promise<Operation> {
    const operation = await this.store.get(ref);
    if (operation === null) throw new ContractError(`There is no operation '${ref}'.`);
    return operation;
  }
}

function nameOf(reason: unknown): string {
  return reason instanceof Error ? reason.name : "unknown";
}
