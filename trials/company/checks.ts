import type { TrialRun } from "../trial.ts";
import { isOpen, type Attempt } from "./giving.ts";
import type { CallRecord } from "./call-record.ts";
import { checkMcp, checkQuestion } from "./mcp-checks.ts";
import { isOfMcp, type PlannedCall } from "./plan.ts";
import type { CallRow, EventRow } from "./rows.ts";

/** The most that a wait may end late while a server lives, in ms, on a machine with nothing else to do: a claim of a server that dies lasts 5 s. */
export const LATE_MS = 6_000;
/** Servers estimate the time of the database, by which waits are due. */
const EARLY_MS = 500;

type Fail = TrialRun["fail"];

/** Checks a call at the end. Returns the ms by which it was late, if its wait ended by time; otherwise null. */
export function checkCall(record: CallRecord, fail: Fail): number | null {
  const { planned, row } = record;
  const failCall = (problem: string): void =>
    fail(`the call ${planned.job} of ${planned.tool} (${planned.way}), which is ${row.state}: ${problem}`);
  checkEvents(record, failCall);
  checkState(record, failCall);
  const { tool } = planned;
  if (isOfMcp(tool)) checkMcp({ ...record, tool }, failCall);
  else checkAttempts(record, failCall);
  if (tool === "fills" || tool === "talks") checkQuestion(record, failCall);
  if (row.openWaits > 0) failCall(`${row.openWaits} waits are open`);
  return checkTime(record, failCall);
}

function checkEvents({ row, events }: CallRecord, fail: Fail): void {
  const of = (kind: string): readonly EventRow[] => events.filter((event) => event.kind === kind);
  for (const kind of ["TOOL_START", "TOOL_END", "TOOL_EXECUTED"]) if (of(kind).length !== 1) fail(`${of(kind).length} ${kind}`);
  const waited = row.passed.filter((state) => state === "WAITING").length;
  if (waited > 1 || of("TOOL_WAITING").length !== waited)
    fail(`${of("TOOL_WAITING").length} TOOL_WAITING, and ${waited} times WAITING`);
  for (const { state } of of("TOOL_END")) if (state !== row.state) fail(`its TOOL_END says ${state}`);
  const closed = of("PERMISSION_CLOSED").length + of("PERMISSION_DECIDED").length;
  if (closed !== row.approvals.length) fail(`${row.approvals.length} approvals were decided or closed ${closed} times`);
}

/** The ends that are right for each call, as its state and the type of its error. */
function endsOf({ tool, way }: PlannedCall): readonly string[] {
  if (tool === "asks") return ["DENIED approval_expired"];
  if (tool === "sleeps") return ["FAILED timeout"];
  switch (way) {
    case "an error":
      return ["FAILED execution_failed"];
    case "too late":
      return ["FAILED timeout", "COMPLETED"];
    case "after a cancel":
      return ["FAILED aborted", "COMPLETED"];
    case "concurrently":
      return ["COMPLETED", "FAILED execution_failed"];
    default:
      return ["COMPLETED"];
  }
}

function checkState({ planned, row, interruptions }: CallRecord, fail: Fail): void {
  // The outcome of a call is unknown if its server died while it ran. Calls of the same answer that did not begin are sealed too.
  const [last] = row.passed.slice(-2);
  if (row.state === "SEALED" && interruptions.length > 0 && (last === "EXECUTING" || last === "PENDING")) return;
  const end = [row.state, ...(row.error === null ? [] : [row.error.type])].join(" ");
  if (!endsOf(planned).includes(end))
    fail(`it should be ${endsOf(planned).join(" or ")}, not ${end} after ${row.passed.join(", ")}`);
}

/** The recorded result is one that was accepted, or one whose answer was lost; all others were refused. */
function checkAttempts({ row, attempts }: CallRecord, fail: Fail): void {
  const accepted = new Set(attempts.filter(({ outcome }) => outcome === "ACCEPTED").map(({ given }) => given));
  if (accepted.size > 1) fail(`accepted were ${[...accepted].join(" and ")}`);
  for (const given of accepted) if (!isRecorded(row, given)) fail(`accepted was ${given}, and recorded is ${recordedOf(row)}`);
  const isGiven = row.state === "COMPLETED" || row.error?.type === "execution_failed";
  const possible = attempts.filter(({ outcome }) => outcome === "ACCEPTED" || outcome === "LOST").map(({ given }) => given);
  if (isGiven && !possible.some((given) => isRecorded(row, given))) fail(`nobody gave ${recordedOf(row)}, which is recorded`);
  for (const attempt of attempts) checkRefusal(row, attempt, fail);
  for (const [sent, same] of Map.groupBy(attempts, ({ given, key }) => `${given} by the key ${key}`)) {
    const last = same.at(-1);
    if (last === undefined || isOpen(last)) fail(`nobody said how ${sent} ended`);
    else if (last.key !== null && isRecorded(row, last.given) && last.outcome !== "ACCEPTED" && !accepted.has(last.given))
      fail(`${sent} is recorded, and was told ${last.outcome}`);
  }
}

function checkRefusal(row: CallRow, { outcome, message, given, key }: Attempt, fail: Fail): void {
  switch (outcome) {
    case "ACCEPTED":
    case "LOST":
    case "NOT_WAITING":
      return;
    case "CALL_ENDED":
      if (!message.includes(`is ${row.state}:`)) fail(`${given} was told ${message}`);
      return;
    case "INVALID":
      if (!given.includes('"value":1}')) fail(`${given} was told ${message}`);
      return;
    case "IDEMPOTENCY_KEY_REUSED":
      if (key === null || !given.includes(" two")) fail(`${given} was told ${message}`);
      return;
    default:
      fail(`${given} was told ${outcome}: ${message}`);
  }
}

function isRecorded({ state, details, error }: CallRow, given: string): boolean {
  const sent = JSON.parse(given) as { readonly result?: unknown; readonly error?: string };
  if (sent.error !== undefined) return state === "FAILED" && error?.message.includes(sent.error) === true;
  return state === "COMPLETED" && JSON.stringify(details) === JSON.stringify(sent.result);
}

function recordedOf({ details, error }: CallRow): string {
  return JSON.stringify(error ?? details);
}

/** Checks that a schedule sent its reminder once, at its time, and that one turn read it. */
export function checkReminded(
  {
    text,
    events,
    interruptions,
    mayBeLateMs,
  }: Pick<CallRecord, "events" | "interruptions" | "mayBeLateMs"> & { readonly text: string },
  fail: Fail,
): void {
  const of = (kind: string): readonly EventRow[] => events.filter((event) => event.kind === kind);
  const failAgent = (problem: string): void => fail(`the agent that a schedule reminds of ${text}: ${problem}`);
  for (const kind of ["SCHEDULER_TRIGGERED", "REMINDER_SENT", "DONE"])
    if (of(kind).length !== 1) failAgent(`it has ${of(kind).length} ${kind}`);
  const [triggered] = of("SCHEDULER_TRIGGERED");
  if (triggered === undefined) return;
  const due = Date.parse(triggered.dueAt ?? "");
  if (triggered.at < due - EARLY_MS) failAgent(`it was reminded ${due - triggered.at} ms before the time`);
  const since = Math.max(due, ...interruptions.filter((at) => at < triggered.at));
  if (!(triggered.at - since <= mayBeLateMs))
    failAgent(`it was reminded ${triggered.at - due} ms after the time, ${triggered.at - since} ms after the last interruption`);
}

/** A wait ends at its time: not before, and at most `mayBeLateMs` after the time, or after the last death of a server, or the return of one, meanwhile. */
function checkTime({ planned, row, events, interruptions, mayBeLateMs }: CallRecord, fail: Fail): number | null {
  const [approval] = planned.tool === "asks" ? row.approvals : [];
  const dueAt = events.find(({ kind }) => kind === "TOOL_WAITING")?.dueAt;
  const ended = events.find(({ kind }) => kind === "TOOL_END");
  const isTimedOut = row.error?.type === "timeout" && dueAt != null && ended !== undefined;
  if (approval === undefined && !isTimedOut) return null;
  if (approval !== undefined && approval.state !== "EXPIRED") fail(`its approval is ${approval.state}`);
  const due = approval?.expiresAt ?? Date.parse(dueAt ?? "");
  const endedAt = approval?.closedAt ?? ended?.at ?? Infinity;
  if (endedAt < due - EARLY_MS) fail(`it ended ${due - endedAt} ms before its time`);
  const since = Math.max(due, ...interruptions.filter((at) => at < endedAt));
  if (endedAt - since > mayBeLateMs)
    fail(`it ended ${endedAt - due} ms after its time, ${endedAt - since} ms after the last interruption`);
  return endedAt - since;
}
