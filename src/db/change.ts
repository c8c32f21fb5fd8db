import type { Prisma } from "./generated/client.ts";
import { storableJson, type Json } from "../lib/json.ts";
import type { ApprovalState, ToolCallState } from "./generated/enums.ts";

/** The columns of an agent that a commit may set. */
export type AgentPatch = Patch<
  Pick<
    Prisma.AgentUncheckedCreateInput,
    | "state"
    | "breakpoint"
    | "turn"
    | "stepCount"
    | "transcriptLength"
    | "lastSfpIndex"
    | "interruptAt"
    | "interruptNote"
    | "leaseOwner"
    | "leaseUntil"
    | "runnableAt"
    | "needs"
  >
>;

/** The columns of a tool call that a transition may set. */
export type ToolCallPatch = { readonly state: ToolCallState; readonly updatedAt: Date } & Patch<
  Omit<Prisma.ToolCallUncheckedCreateInput, "id" | "tenant" | "agentId" | "state" | "updatedAt" | "auditTrail" | "approvals">
>;

/** What a call starts by, besides its policy: refused where that does not stand any more. */
export type StartsBy = { readonly approvalId: string; readonly inputHash: string } | { readonly allowRuleId: string };

/** One step of a tool call from one state to the next: refused where the row is not in `from`. */
export type ToolCallTransition = {
  readonly id: string;
  readonly from: ToolCallState;
  readonly by?: StartsBy;
  readonly set: ToolCallPatch;
  readonly audit: { readonly state: ToolCallState; readonly timestamp: string; readonly note?: string };
};

/** One step of an approval from one state to the next: refused where the row is not in `from`. */
export type ApprovalTransition = {
  readonly id: string;
  readonly from: ApprovalState;
  readonly to: ApprovalState;
  readonly closedAt: Date | null;
};

/** The values of a column: JSON where Prisma takes JSON. */
type Value<Input> = Prisma.InputJsonValue extends Input ? Json : Exclude<Input, undefined>;

/** A row for insertion: every column is given, since the database takes an absent one as null. */
type Row<Input> = { readonly [Column in keyof Input]-?: Value<Input[Column]> };

/** Columns to set. Absent columns keep their value. */
type Patch<Input> = { readonly [Column in keyof Input]?: Value<Input[Column]> };

/** All that one commit may change on one agent. Absent parts change nothing. */
export type Change = {
  readonly idempotencyKey?: Row<Prisma.IdempotencyKeyUncheckedCreateInput>;
  readonly createAgent?: Row<Omit<Prisma.AgentUncheckedCreateInput, "steps" | "messages" | "toolCalls" | "approvals" | "todos">>;
  /** With createAgent: the messages of another agent, up to this ordinal, are the first of the new one's. */
  readonly fork?: { readonly from: string; readonly at: number };
  /** The commit is refused unless the agent's signal is still this: nothing arrived since it was looked at. */
  readonly expectSignal?: number;
  readonly agent?: AgentPatch;
  /** Counts a signal and makes the agent runnable. */
  readonly wake?: true;
  /** Asks the owner to interrupt; refused where there is nothing to interrupt. */
  readonly interrupt?: { readonly at: string; readonly note?: string };
  /** The commit is refused where so many messages, or bytes with those `added`, wait for the agent already. */
  readonly queueLimit?: { readonly messages: number; readonly bytes: number; readonly added: number };
  /** A message from a person; the commit gives it its arrival. */
  readonly received?: Row<Omit<Prisma.MessageUncheckedCreateInput, "arrival">>;
  /** The images of `received`, in base64; those that the tenant has already stay. */
  readonly images?: readonly { readonly digest: string; readonly data: string }[];
  readonly joins?: readonly { readonly id: string; readonly ordinal: number; readonly turn: number; readonly step: number }[];
  readonly messages?: readonly Row<Prisma.MessageUncheckedCreateInput>[];
  readonly stepStart?: Row<Prisma.StepUncheckedCreateInput>;
  readonly stepEnd?: { readonly step: number } & Patch<Omit<Prisma.StepUncheckedCreateInput, "agentId" | "step">>;
  readonly toolCalls?: readonly Row<Omit<Prisma.ToolCallUncheckedCreateInput, "approvals">>[];
  readonly transitions?: readonly ToolCallTransition[];
  readonly approvals?: readonly Row<Omit<Prisma.ApprovalUncheckedCreateInput, "decisions">>[];
  readonly approvalTransitions?: readonly ApprovalTransition[];
  readonly decision?: Row<Prisma.DecisionUncheckedCreateInput>;
  /** The decisions that the approval must have so far, with `decision`; none where omitted. */
  readonly expectDecisions?: number;
  readonly todos?: readonly Row<Prisma.TodoUncheckedCreateInput>[];
};

/** Several changes of one agent as one, in their order: what is listed follows each other, and the last word on a column counts. */
export function joinChanges(changes: readonly Change[]): Change {
  if (changes.filter(({ stepEnd }) => stepEnd !== undefined).length > 1) throw new Error("a change ends one step at most");
  const joined: Change = Object.assign({}, ...changes);
  const agent: AgentPatch = Object.assign({}, ...changes.map((change) => change.agent));
  const listed = {
    joins: changes.flatMap(({ joins = [] }) => joins),
    messages: changes.flatMap(({ messages = [] }) => messages),
    toolCalls: changes.flatMap(({ toolCalls = [] }) => toolCalls),
    transitions: changes.flatMap(({ transitions = [] }) => transitions),
    approvals: changes.flatMap(({ approvals = [] }) => approvals),
    approvalTransitions: changes.flatMap(({ approvalTransitions = [] }) => approvalTransitions),
  };
  return withoutEmpty({ ...joined, agent, ...listed });
}

/** The change without the parts that change nothing: each would be a statement. */
function withoutEmpty(change: Change): Change {
  return Object.fromEntries(
    Object.entries(change).filter(([, part]) => typeof part !== "object" || Object.keys(part as object).length > 0),
  );
}

/** Parts whose keys are column names. The others keep their keys as they are. */
const ROWS = new Set([
  "idempotencyKey",
  "createAgent",
  "agent",
  "received",
  "joins",
  "messages",
  "stepStart",
  "stepEnd",
  "toolCalls",
  "approvals",
  "approvalTransitions",
  "decision",
  "todos",
]);

/** The change as the SQL function `commit_change` reads it: columns in snake_case. */
export function encodeChange(change: Change): string {
  const parts = Object.entries(change).map(([name, part]) => {
    if (name === "transitions")
      return [
        name,
        (part as readonly ToolCallTransition[]).map(({ set, ...rest }) => Object.assign(rest, { set: toColumns(set) })),
      ];
    if (!ROWS.has(name)) return [name, part];
    return [name, Array.isArray(part) ? part.map(toColumns) : toColumns(part as object)];
  });
  return storableJson(Object.fromEntries(parts));
}

function toColumns(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [columnOf(key), value]));
}

/** The names of columns, of which there are few: every commit asks for dozens. */
const COLUMNS = new Map<string, string>();

function columnOf(key: string): string {
  let column = COLUMNS.get(key);
  if (column === undefined) {
    column = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    COLUMNS.set(key, column);
  }
  return column;
}
