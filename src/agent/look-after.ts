import { mapStrings } from "../lib/json.ts";
import { storable } from "../lib/text.ts";
import type { CallLook, Look } from "./look.ts";
import type { Joins, NewCalls, NewMessage } from "./rows.ts";

/**
 * What an agent's rows say after a commit of its owner, of what they said before it: so that they need not be read
 * again. Of state and breakpoint the hold knows more, once the commit is answered.
 */
export type After = (before: Look) => Look;

/** After several things, one after the other. */
export function inOrder(...steps: readonly After[]): After {
  return (look) => steps.reduce((now, step) => step(now), look);
}

/** After a commit that changes nothing that a look shows. */
export const unchanged: After = (look) => look;

/** After calls went to other states; not for those that a person is asked about. */
export function afterCalls(changed: readonly CallLook[]): After {
  const stored = new Map(changed.map((call) => [call.id, asStored(call)]));
  return (look) => ({ ...look, calls: look.calls.map((call) => stored.get(call.id) ?? call) });
}

/** After a turn began with messages that had waited. */
export function afterTurnStart(turn: number, joins: Joins): After {
  return (look) => afterJoins(joins)({ ...look, state: "WORKING", turn, turnMessageIds: [], stepsInTurn: 0 });
}

/** After a model call was begun. */
export function afterStepStart(model: string): After {
  return (look) => {
    const step = look.stepCount + 1;
    return {
      ...look,
      stepCount: step,
      stepsInTurn: look.stepsInTurn + 1,
      lastStep: { step, turn: look.turn, state: "STARTED", stopReason: null, model },
      calls: [],
    };
  };
}

/** After a model call was answered. */
export function afterStepEnd(stopReason: string, calls: NewCalls): After {
  return (look) => ({
    ...look,
    lastStep: look.lastStep === null ? null : { ...look.lastStep, state: "COMPLETED", stopReason },
    calls: calls.map(pendingCall),
  });
}

/** After a turn ended. */
export const afterTurnEnd: After = (look) => ({
  ...look,
  state: "READY",
  breakpoint: "READY",
  interruptAt: null,
  interruptNote: null,
});

/** After messages that had waited joined the transcript. */
export function afterJoins(joins: Joins): After {
  const joined = new Set(joins.map(({ id }) => id));
  return (look) => ({
    ...look,
    transcriptLength: look.transcriptLength + joins.length,
    turnMessageIds: [...look.turnMessageIds, ...joined],
    waiting: look.waiting.filter((id) => !joined.has(id)),
    lastMessageKind: joins.length > 0 ? "USER" : look.lastMessageKind,
  });
}

/** After a message of the owner, or none, was added to the transcript. */
export function afterMessage({ messages }: NewMessage): After {
  return (look) => ({
    ...look,
    transcriptLength: look.transcriptLength + messages.length,
    lastMessageKind: messages.at(-1)?.kind ?? look.lastMessageKind,
  });
}

function pendingCall({ id, ordinal, providerId, name, state, attempt, requestedInput }: NewCalls[number]): CallLook {
  return asStored({
    id,
    ordinal,
    providerId,
    name,
    state,
    attempt,
    requestedInput,
    effectiveInput: null,
    ruleValues: null,
    inputHash: null,
    output: null,
    isError: false,
    error: null,
    stages: {},
    startedAt: null,
    completedAt: null,
    durationMs: null,
    approval: null,
  });
}

/** The call as it is read from its row: what PostgreSQL cannot store was replaced in its texts. */
function asStored(call: CallLook): CallLook {
  return {
    ...call,
    requestedInput: mapStrings(call.requestedInput, storable),
    effectiveInput: mapStrings(call.effectiveInput, storable),
    ruleValues: mapStrings(call.ruleValues, storable),
    output: call.output === null ? null : storable(call.output),
    error: call.error === null ? null : { ...call.error, message: storable(call.error.message) },
  };
}
