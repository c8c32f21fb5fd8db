import type { AuditStep, AuditTurn } from "../../src/db/generated/client.ts";
import { at, type TrueAgent, type TrueStep, type TrueTurn, type TurnOffice } from "./turn-office.ts";

/** The rows as a plain count over what was committed gives them. */
export function expectedRows(office: TurnOffice): { readonly steps: readonly AuditStep[]; readonly turns: readonly AuditTurn[] } {
  const steps = office.steps.map((step) => stepOf(office, step));
  return { steps, turns: office.turns.flatMap((turn) => turnOf(office, turn, steps) ?? []) };
}

function ofAgent(office: TurnOffice, id: string): TrueAgent {
  const agent = office.agents.find((own) => own.id === id);
  if (agent === undefined) throw new Error("no such agent");
  return agent;
}

function requesterOf(office: TurnOffice, agentId: string, turn: number): string {
  const own = office.turns.find((other) => other.agent === agentId && other.turn === turn);
  return own?.messages[0]?.by ?? ofAgent(office, agentId).creator;
}

function stepOf(office: TurnOffice, step: TrueStep): AuditStep {
  const { id, tenant, template, creator, root } = ofAgent(office, step.agent);
  const first = office.steps.find((other) => other.agent === step.agent && other.turn === step.turn);
  return {
    agentId: id,
    step: step.step,
    tenant,
    turn: step.turn,
    state: step.state,
    model: step.model,
    stopReason: null,
    inputTokens: step.tokens,
    outputTokens: step.tokens,
    cacheReadTokens: step.tokens,
    cacheWriteTokens: step.tokens,
    outputIsEstimated: false,
    costUsd: step.cost,
    startedAt: at(step.from),
    completedAt: step.to === null ? null : at(step.to),
    durationMs: step.to === null ? null : (step.to - step.from) * 1_000,
    firstTokenMs: step.firstTokenMs,
    errorType: step.errorType,
    isFallback: step.model !== first?.model,
    templateId: template,
    createdBy: creator,
    rootId: root,
    requestedBy: requesterOf(office, id, step.turn),
    requestedByKind: "USER",
  };
}

/** Null for a turn that has neither a step nor an end. */
function turnOf(office: TurnOffice, turn: TrueTurn, all: readonly AuditStep[]): AuditTurn | null {
  const { id, tenant, template, creator, root } = ofAgent(office, turn.agent);
  const steps = all.filter((step) => step.agentId === id && step.turn === turn.turn);
  const sum = (of: (step: AuditStep) => number | null): number => steps.reduce((total, step) => total + (of(step) ?? 0), 0);
  const startedAt = steps[0]?.startedAt ?? (turn.to === null ? null : at(turn.to));
  if (startedAt === null) return null;
  const seconds = Array.from({ length: 1_000 }, (_none, second) => second);
  const waited = seconds.filter((second) => turn.questions.some(({ from, to }) => to !== null && from <= second && second < to));
  return {
    agentId: id,
    turn: turn.turn,
    tenant,
    model: steps[0]?.model ?? null,
    reason: turn.reason,
    steps: steps.length,
    calls: turn.calls,
    inputTokens: sum((step) => step.inputTokens),
    outputTokens: sum((step) => step.outputTokens),
    cacheReadTokens: sum((step) => step.cacheReadTokens),
    cacheWriteTokens: sum((step) => step.cacheWriteTokens),
    outputIsEstimated: false,
    costUsd: sum((step) => step.costUsd),
    unpriced: steps.filter((step) => step.inputTokens !== null && step.costUsd === null).length,
    startedAt,
    endedAt: turn.to === null ? null : at(turn.to),
    durationMs: turn.to === null ? null : at(turn.to).getTime() - startedAt.getTime(),
    waitingMs: waited.length * 1_000,
    firstTokenMs: steps.find((step) => step.firstTokenMs !== null)?.firstTokenMs ?? null,
    errorType: steps.at(-1)?.errorType ?? null,
    isFallback: steps.some((step) => step.isFallback),
    templateId: template,
    createdBy: creator,
    rootId: root,
    requestedBy: requesterOf(office, id, turn.turn),
    requestedByKind: "USER",
    requesters: [...new Set(turn.messages.map(({ by }) => `USER:${by}`))],
  };
}
