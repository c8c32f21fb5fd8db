import type { DoneReason } from "../../db/commit/change.ts";
import { brokenBlocks } from "../../events/blocks.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { CallView } from "../calls/call.ts";
import { endOfBlock } from "../conversation/model-call.ts";
import { NOTHING_SPENT, spentOnBroken } from "../models/model.ts";
import { readChildrenOfCalls } from "../waits/awaited-child.ts";
import { sealedChild } from "../waits/child.ts";
import { recovered } from "./commits/calls-run.ts";
import type { Aborted } from "./commits/steps.ts";
import { turnSealed, turnStarted, type TurnVersion } from "./commits/turns.ts";
import type { Owner } from "./owner.ts";
import type { AgentServices } from "./scope.ts";
import type { AgentView } from "./view.ts";

/** Begins a turn with the waiting messages, and with this template; null if it is not configured. It is committed with the turn's first action. */
export function startTurn(owner: Owner, view: AgentView, template: TurnVersion | null, at: Date): void {
  owner.defer({
    ...turnStarted(owner.rebase(view), template, at),
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
  { sql, clock, models, tools, heldTemplate }: Pick<AgentServices, "sql" | "clock" | "models" | "tools" | "heldTemplate">,
  owner: Owner,
  view: AgentView,
  { reason, note, modelNote, events }: EndOfTurn,
): Promise<void> {
  const broken = await readBrokenCall({ sql, models }, view);
  const waiting = view.waits.flatMap(({ kind, callId }) => (kind === "CHILD" && callId !== null ? [callId] : []));
  const children = new Map((await readChildrenOfCalls(sql, waiting)).map((each) => [each.callId, sealedChild(each)]));
  const template = await heldTemplate(view);
  const trace = "missing" in template ? false : template.trace;
  await owner.commit(
    turnSealed(owner.rebase(view), { reason, note, modelNote, broken, events, trace, tools, children }, clock.now()),
  );
}

/** After this many runs the outcome of a call counts as unknown: it may be the cause that its servers stop. */
const MOST_RUNS = 3;

/**
 * Continues after an owner that stopped, or released the agent, during `unfinished` or a model call. Returns the ids of
 * calls that may run again (idempotent tools); the others are asked about or sealed. Null if it could not be committed.
 */
export async function recover(
  { sql, clock, models, tools, heldTemplate }: Pick<AgentServices, "sql" | "clock" | "models" | "tools" | "heldTemplate">,
  owner: Owner,
  view: AgentView,
  { unfinished, isTakenOver }: { readonly unfinished: readonly CallView[]; readonly isTakenOver: boolean },
): Promise<readonly string[] | null> {
  const repeatable = unfinished.filter(({ name, attempt }) => tools.get(name)?.idempotent === true && attempt < MOST_RUNS);
  const unknown = unfinished.filter((call) => !repeatable.includes(call));
  const broken = await readBrokenCall({ sql, models }, view);
  const held = await heldTemplate(view);
  const template = "missing" in held ? null : held;
  const isCommitted = await owner.commit(
    recovered(owner.rebase(view), { unknown, broken, tools, template, isTakenOver }, clock.now()),
  );
  return isCommitted ? repeatable.map(({ id }) => id) : null;
}

/** The traces that an earlier owner's unfinished model call has left in the log. */
async function readBrokenCall(
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
    isLost: true,
  };
}
