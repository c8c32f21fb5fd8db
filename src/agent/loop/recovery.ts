import type { CallView } from "../calls/call.ts";
import { readBrokenCall } from "./broken-call.ts";
import { recovered } from "./commits/recovered.ts";
import type { Owner } from "./owner.ts";
import type { AgentServices } from "./services.ts";
import type { AgentView } from "./view.ts";

/** After this many runs the outcome of a call counts as unknown: it may be the cause that its servers stop. */
const MOST_RUNS = 3;

/**
 * Continues after an owner that stopped, or released the agent, during `unfinished` or a model call. Returns the ids of
 * calls that may run again (idempotent tools); the others are asked about or sealed. Null if it could not be committed.
 */
export async function recover(
  { sql, clock, models, tools, templates }: Pick<AgentServices, "sql" | "clock" | "models" | "tools" | "templates">,
  owner: Owner,
  view: AgentView,
  { unfinished, isTakenOver }: { readonly unfinished: readonly CallView[]; readonly isTakenOver: boolean },
): Promise<readonly string[] | null> {
  const repeatable = unfinished.filter(({ name, attempt }) => tools.get(name)?.idempotent === true && attempt < MOST_RUNS);
  const unknown = unfinished.filter((call) => !repeatable.includes(call));
  const broken = await readBrokenCall({ sql, models }, view);
  const template = templates.get(view.templateId) ?? null;
  const isCommitted = await owner.commit(
    recovered(owner.rebase(view), { unknown, broken, tools, template, isTakenOver }, clock.now()),
  );
  return isCommitted ? repeatable.map(({ id }) => id) : null;
}
