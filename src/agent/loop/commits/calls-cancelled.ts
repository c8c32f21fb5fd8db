import type { CancelRequest } from "../../../db/commit/change.ts";
import type { CallView } from "../../calls/call.ts";
import { cancelledRefusal } from "../../calls/stages/cancelled.ts";
import { endEvents } from "../../calls/events.ts";
import { refusedStep } from "../../calls/refusals/refused-step.ts";
import type { CallStep } from "../../calls/states.ts";
import { callsChanged, joinCommits, type Commit } from "./commit.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "./questions-sealed.ts";

export type CancelledCall = { readonly call: CallView; readonly request: CancelRequest };

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
