import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { commandBeginning } from "../../calls/shells/rows.ts";
import type { Commit } from "./commit.ts";

/** Starts a background shell: its row is stored before its program starts. */
export function shellStarted(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Commit {
  const { id, callId, server } = start.row;
  const shell = { id, callId, command: commandBeginning(start.row.command), server };
  return {
    change: { shellStart: start },
    events: [event],
    after: (view) => ({ ...view, shells: [...view.shells, shell] }),
  };
}
