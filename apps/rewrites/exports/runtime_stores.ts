/**
 * Where operations are kept: an interface, in memory, and in SQLite.
 *
 * An operation is stored before its first write, so that a program that dies in the
 * middle finds after its restart what it may have done.
 */
import { ContractError } from "./runtime_template.ts";
import type { Json, JsonObject } from "./runtime_template.ts";

export type OperationState =
  | "ready"
  | "dispatched"
  | "waiting"
  | "verifying"
  | "needs_input"
  | "needs_user"
  | "needs_approval"
  | "committed"
  | "replaced"
  | "switched"
  | "escalated"
  | "stopped";
/** Somebody else must act on these. */
export const OPEN: readonly OperationState[] = [
  "needs_input",
  "needs_user",
  "needs_approval",
];
/** The runtime goes on with these; an approval that does not come is its affair too. */
export const UNFINISHED: readonly OperationState[] = [
  "ready",
  "dispatched",
  "waiting",
  "verifying",
  "needs_approval",
];
export const TERMINAL: readonly OperationState[] = [
  "committed",
  "replaced",
  "switched",
  "escalated",
  "stopped",
];

/** One write, from before its first attempt until it has an end. */
export interface Operation {
  /** The idempotency key, or maps to it; the same on every attempt. */
  ref: string;
  tool: string;
  args: Json;
  state: OperationState;
  attempts: number;
  checks: number;
  /** Epoch seconds; before that the runtime lets it rest. */
  due: number;
  /** An attempt went out and nobody proved it void. */
  mayHaveWritten: boolean;
  /** The last envelope. */
  error: JsonObject;
  result: Json;
  checkedAt: string;
  evidenceRef: string;
  replacedBy: string;
  /** For compare-and-set: two programs cannot both send. */
  version: number;
}

export function newOperation(ref: string, tool: string, args: Json): Operation {
  return {
    ref,
    tool,
    args,
    state: "ready",
    attempts: 0,
    checks: 0,
    due: 0,
    mayHaveWritten: false,
    error: {},
    result: null,
    checkedAt: "",
    evidenceRef: "",
    replacedBy: "",
    version: 0,
  };
}

type Maybe<T> = T | Promise<T>;

/** What the write runtime needs of a store. Every write must be durable. */
export interface OperationStore {
  /** Store a new operation; throws ContractError if its reference is known. */
  add(operation: Operation): Maybe<void>;
  get(ref: string): Maybe<Operation | null>;
  /** Store a change if nobody else changed it; null: somebody did. */
  put(operation: Operation): Maybe<Operation | null>;
  /** Every operation that the runtime has to go on with, the oldest first. */
  unfinished(): Maybe<Operation[]>;
}

/** For tests, and for tools whose program outlives all that it writes to. */
export class MemoryStore implements OperationStore {
  private readonly rows = new Map<string, Operation>();

  add(operation: Operation): void {
    if (this.rows.has(operation.ref)) throw inUse(operation.ref);
    this.rows.set(operation.ref, operation);
  }

  get(ref: string): Operation | null {
    return this.rows.get(ref) ?? null;
  }

  put(operation: Operation): Operation | null {
    if (this.rows.get(operation.ref)?.version !== operation.version) return null;
    const stored = { ...operation, version: operation.version + 1 };
    this.rows.set(operation.ref, stored);
    return stored;
  }

  unfinished(): Operation[] {
    return [...this.rows.values()].filter((row) => UNFINISHED.includes(row.state));
  }
}

type SqlValue = string | number;

/** What is used of a driver: `node:sqlite` and better-sqlite3 both have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqlValue[]): { changes: number | bigint };
    all(...values: SqlValue[]): unknown[];
  };
}

/** In one file; several programs may share it, each with a store of its own. */
export class SqliteStore implements OperationStore {
  constructor(private readonly db: SqliteDatabase) {
    db.exec("PRAGMA busy_timeout = 30000");
    // A commit must be on the disk before the write goes out.
    db.exec("PRAGMA synchronous = FULL");
    db.exec(
      "CREATE TABLE IF NOT EXISTS operations (ref TEXT PRIMARY KEY," +
        " state TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL," +
        " added INTEGER NOT NULL)",
    );
  }

  add(operation: Operation): void {
    if (this.get(operation.ref)) throw inUse(operation.ref);
    this.db
      .prepare(
        "INSERT INTO operations SELECT ?, ?, ?, ?, coalesce(max(added), 0) + 1" +
          " FROM operations",
      )
      .run(operation.ref, operation.state, operation.version, data(operation));
  }

  get(ref: string): Operation | null {
    const sql = "SELECT data FROM operations WHERE ref = ?";
    return this.read(this.db.prepare(sql).all(ref))[0] ?? null;
  }

  put(operation: Operation): Operation | null {
    const stored = { ...operation, version: operation.version + 1 };
    const { changes } = this.db
      .prepare(
        "UPDATE operations SET state = ?, version = ?, data = ?" +
          " WHERE ref = ? AND version = ?",
      )
      .run(stored.state, stored.version, data(stored), stored.ref, operation.version);
    return Number(changes) === 1 ? stored : null;
  }

  unfinished(): Operation[] {
    const marks = UNFINISHED.map(() => "?").join(",");
    const sql = `SELECT data FROM operations WHERE state IN (${marks}) ORDER BY added`;
    return this.read(this.db.prepare(sql).all(...UNFINISHED));
  }

  private read(rows: unknown[]): Operation[] {
    return rows.map((row) => JSON.parse((row as { data: string }).data) as Operation);
  }
}

function data(operation: Operation): string {
  return JSON.stringify(operation);
}

function inUse(ref: string): ContractError {
  return new ContractError(`The reference '${ref}' is in use.`);
}
