import type { CallView } from "../calls/call.ts";
import { readBrokenCall } from "./broken-call.ts";
import { recovered } from "./commits/recovered.ts";
import type { Owner } from "./owner.ts";
import type { AgentServices } from "./services.ts";
import type { AgentView } from "./view.ts";

/** A call that takes its server with it must not do so for ever: after so many runs its outcome counts as unknown. */
const MOST_RUNS = 3;

/**
 * Goes on after an owner that died, or gave the agent back, while it ran `orphans`, or while a model spoke. Calls of idempotent tools may run again:
 * gives their ids. The others are asked about or sealed. Null if it could not be committed.
 */
export async function recover(
  { sql, clock, models, tools, templates }: Pick<AgentServices, "sql" | "clock" | "models" | "tools" | "templates">,
  owner: Owner,
  view: AgentView,
  { orphans, isTakenOver }: { readonly orphans: readonly CallView[]; readonly isTakenOver: boolean },
): Promise<readonly string[] | null> {
  const repeatable = orphans.filter(({ name, attempt }) => tools.get(name)?.idempotent === true && attempt < MOST_RUNS);
  const unknown = orphans.filter((call) => !repeatable.includes(call));
  const broken = await readBrokenCall({ sql, models }, view);
  const template = templates.get(view.templateId) ?? null;
  const isCommitted = await owner.commit(
    recovered(owner.current(view), { unknown, broken, tools, template, isTakenOver }, clock.now()),
  );
  return isCommitted ? repeatable.map(({ id }) => id) : null;
}
