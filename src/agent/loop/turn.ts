import type { DoneReason } from "../../db/done-reason.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { turnSealed } from "./commits/turn-sealed.ts";
import { turnStarted } from "./commits/turn-started.ts";
import { readBrokenCall } from "./broken-call.ts";
import type { Owner } from "./owner.ts";
import type { AgentServices } from "./services.ts";
import type { AgentView } from "./view.ts";

/** Begins a turn with the waiting messages. It is committed with the turn's first action. */
export function startTurn(owner: Owner, view: AgentView, at: Date): void {
  owner.defer({
    ...turnStarted(owner.rebase(view), at),
    onRefused: (problem) => Promise.reject(new Error(`a turn could not be started: ${problem}`)),
  });
}

export type EndOfTurn = {
  readonly reason: DoneReason;
  readonly note: string;
  /** A note to the model; null for none. */
  readonly modelNote: string | null;
  readonly events: readonly AgentEventBody[];
};

export async function sealTurn(
  { sql, clock, models, templates }: Pick<AgentServices, "sql" | "clock" | "models" | "templates">,
  owner: Owner,
  view: AgentView,
  { reason, note, modelNote, events }: EndOfTurn,
): Promise<void> {
  const broken = await readBrokenCall({ sql, models }, view);
  const trace = templates.get(view.templateId)?.trace ?? false;
  await owner.commit(turnSealed(owner.rebase(view), { reason, note, modelNote, broken, events, trace }, clock.now()));
}
