import type { CancelRequest } from "../../../db/commit/change.ts";
import type { CallView } from "../../calls/call.ts";
import { cancelledRefusal } from "../../calls/stages/cancelled.ts";
import { endEvents } from "../../calls/events.ts";
import { refusedStep } from "../../calls/refusals/refused-step.ts";
import type { CallStep } from "../../calls/states.ts";
import { callsChanged, joinCommits, type Commit } from "./commit.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "./questions-sealed.ts";

/** A call that is not running, and the wish that it ends. */
export type CancelledCall = { readonly call: CallView; readonly request: CancelRequest };

/** Calls that do not run are cancelled: each is FAILED, with its question closed. The turn goes on. */
export function callsCancelled(cancelled: readonly CancelledCall[], { trace }: { readonly trace: boolean }, at: Date): Commit {
  const questions = questionsSealed(openQuestions(cancelled.map(({ call }) => call)), "the call was cancelled", at);
  const steps = cancelled.map((each) => failed(each, at));
  return joinCommits(questions, {
    change: { transitions: steps.map(({ transition }) => transition) },
    events: steps.flatMap(({ call }) => endEvents(call, { trace })),
    after: callsChanged(steps.map(({ call }) => call)),
  });
}

function failed({ call, request }: CancelledCall, at: Date): CallStep {
  const refusal = cancelledRefusal(request, call.startedAt === null ? "confirmation" : "execution");
  const step = refusedStep(call, refusal, at);
  return { ...step, call: withQuestionSealed(step.call) };
}
