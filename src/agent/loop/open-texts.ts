import type { Sql } from "../../db/sql.ts";
import { openBlocks } from "../../events/blocks.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { endOfBlock } from "../conversation/model-call.ts";
import type { AgentView } from "./view.ts";

/** The ends of the texts that a model call of the last step left open: an earlier owner died, or was stopped, while it spoke. */
export async function endsOfOpenTexts(sql: Sql, view: AgentView): Promise<readonly AgentEventBody[]> {
  if (view.lastStep?.state !== "STARTED") return [];
  const open = await openBlocks(sql, view.id, view.stepCount);
  return open.map((said) => endOfBlock(said, view.stepCount, true));
}
