import type { Decided } from "./deciding.ts";
import type { Attempt } from "./giving.ts";
import type { Noted } from "./mcp/tally.ts";
import type { PlannedCall } from "./plan.ts";
import type { CallRow, EventRow } from "./rows.ts";

/** What is known of a call at the end. */
export type CallRecord = {
  readonly planned: PlannedCall;
  readonly row: CallRow;
  readonly events: readonly EventRow[];
  readonly attempts: readonly Attempt[];
  readonly decided: readonly Decided[];
  /** What the MCP servers noted of the call, and how often. */
  readonly counts: Readonly<Record<Noted, number>>;
  /** The times at which servers died, and those at which one lived again after all had died, in ms since 1970. */
  readonly interruptions: readonly number[];
  /** The most that a wait may end late while a server lives, in ms. */
  readonly mayBeLateMs: number;
};
