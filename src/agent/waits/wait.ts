import { randomUUID } from "node:crypto";
import { CALL_WAITS, type WaitKind } from "../../db/commit/change.ts";

/**
 * An open wait that holds back the results of a call, and the row with its outcome: an approval, or the call itself. One for a budget
 * holds back the next step, and has no call.
 */
export type WaitView = { readonly callId: string | null; readonly kind: WaitKind; readonly ref: string };

/** The waits that hold back results, or the next step. The others are only times, or questions of programs that outlive their call. */
const HOLDING: ReadonlySet<WaitKind> = new Set(["APPROVAL", "BUDGET", "HOST", "MCP_SERVER", ...CALL_WAITS]);

export function isHolding(kind: WaitKind): boolean {
  return HOLDING.has(kind);
}

/**
 * The open waits of an agent `a` that hold back results, as WaitViews in the order of `byCall`. The wait for a child stays
 * open until the child has ended, also if its call did not wait so long.
 */
export const OPEN_WAITS = `(SELECT coalesce(json_agg(json_build_object('callId', w.call_id, 'kind', w.kind, 'ref', w.ref) ORDER BY w.call_id COLLATE "C" NULLS FIRST, w.ref COLLATE "C"), '[]') FROM wait w
    WHERE w.agent_id = a.id AND w.settled_at IS NULL AND w.kind = ANY ('{${[...HOLDING].join(",")}}')
      AND (w.kind <> 'CHILD' OR EXISTS (SELECT FROM tool_call t WHERE t.id = w.call_id AND t.state = 'WAITING')))`;

/** The `ref` of a wait for the task of an MCP server: servers may use one id for two tasks. */
export function taskRef(callId: string, taskId: string): string {
  return `${callId}:${taskId}`;
}

/** The id of the task in the `ref` of its wait. */
export function taskIdOf(ref: string, callId: string): string {
  return ref.slice(callId.length + 1);
}

/** The `ref` of a wait for an MCP server that is away: its name, and the time until which the call waits (ms since 1970). */
export function serverRef(server: string, until: Date): string {
  return `${server}:${until.getTime()}:${randomUUID()}`;
}

export function serverOf(ref: string): { readonly server: string; readonly untilMs: number } {
  const [server = "", until = "0"] = ref.split(":");
  return { server, untilMs: Number(until) };
}

/** The open question about a budget, if there is one. */
export function budgetQuestions(waits: readonly WaitView[]): readonly { readonly id: string; readonly callId: null }[] {
  return waits.flatMap(({ kind, ref }) => (kind === "BUDGET" ? [{ id: ref, callId: null }] : []));
}

/** The order of waits in a view: those without a call first. */
export function byCall(one: WaitView, other: WaitView): number {
  return compare(one.callId ?? "", other.callId ?? "") || compare(one.ref, other.ref);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
