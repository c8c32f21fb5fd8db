import { brokenBlocks } from "../../events/blocks.ts";
import { endOfBlock } from "../conversation/model-call.ts";
import { NOTHING_SPENT, spentOnBroken } from "../models/spending.ts";
import type { Aborted } from "./commits/step-aborted.ts";
import type { AgentServices } from "./services.ts";
import type { AgentView } from "./view.ts";

/** The traces that an earlier owner's unfinished model call has left in the log. */
export async function readBrokenCall(
  { sql, models }: Pick<AgentServices, "sql" | "models">,
  { id, lastStep, stepCount, model: usual }: AgentView,
): Promise<Aborted> {
  if (lastStep?.state !== "STARTED") return { events: [], spent: NOTHING_SPENT, price: null };
  const said = (await brokenBlocks(sql, id)).filter(({ step }) => step === stepCount);
  const characters = said.reduce((sum, { text }) => sum + text.length, 0);
  const model = [models.get(usual), ...models.values()].find((candidate) => candidate?.name === lastStep.model);
  return {
    events: said.filter(({ isEnded }) => !isEnded).map((block) => endOfBlock(block, stepCount, true)),
    spent: spentOnBroken(null, characters),
    price: model?.price ?? null,
  };
}
