import type { MemoryWrite } from "../../calls/memory/agent-memory.ts";
import { identity, type Commit } from "./commit.ts";

/** A call changes memory. The row of the call keeps its answer: the call writes once, also if it runs again. */
export function memoryChanged({ change, event }: MemoryWrite, at: Date): Commit {
  return { change: { memory: { ...change, at: at.toISOString() } }, events: [event], after: identity };
}
