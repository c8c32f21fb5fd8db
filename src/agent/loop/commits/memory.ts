import type { MemoryWrite } from "../../calls/memory/agent-memory.ts";
import type { NoticeRow } from "../../../db/commit/change.ts";
import { LISTING } from "../../calls/memory/memory-listing.ts";
import { notice } from "../../calls/notices.ts";
import { identity, type Commit } from "./commit.ts";

/** A call changes memory. The row of the call keeps its answer: the call writes once, also if it runs again. */
export function memoryChanged({ change, event }: MemoryWrite, at: Date): Commit {
  return { change: { memory: { ...change, at: at.toISOString() } }, events: [event], after: identity };
}

/** The list of its memory that a step tells an agent. */
export function memoryListed(
  agent: { readonly id: string; readonly tenant: string },
  text: string,
  at: Date,
  step: number,
): NoticeRow {
  return notice(agent, { source: "MEMORY", ref: LISTING, text }, at, step);
}
