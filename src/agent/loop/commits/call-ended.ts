import type { CallView } from "../../calls/call.ts";
import { endEvents } from "../../calls/events.ts";
import type { RefusedHosts } from "../../calls/hosts/call-hosts.ts";
import type { CallOutcome } from "../../calls/run.ts";
import { callStep, type CallStep } from "../../calls/states.ts";
import { outputWith, unaskedLines } from "../../calls/hosts/host-lines.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import { callsChanged, compose, joinCommits, type Commit, type Reducer, moved } from "./commit.ts";
import { refusedFacts, refusedTrail, replacedFacts } from "../../calls/refusals/refusal.ts";
import { refusedResult } from "../../calls/refusals/refusal-details.ts";
import { hostsAsked } from "./hosts-asked.ts";
import { toolWarning } from "./tool-warning.ts";

/** The end of a call that ran. */
export type Ended = {
  /** The call as it stands while it runs. */
  readonly call: CallView;
  readonly outcome: CallOutcome;
  /** True if no other call runs. */
  readonly isLast: boolean;
  readonly template: RecordTemplate;
};

/** A call that ran has ended. The hosts that it would have reached are asked for in the same commit. */
export function callEnded(view: AgentView, { call, outcome, isLast, template }: Ended, at: Date): Commit {
  const step = withLines(stepOf(call, outcome, at), outcome.refusedHosts);
  const warnings = [...failureOf(step.call, outcome), ...outcome.warnings].map(toolWarning);
  const known = { agentId: view.id, tenant: view.tenant, callId: call.id, at };
  const ended: Commit = {
    change: { transitions: [step.transition], knownFiles: outcome.files.map((file) => ({ ...file, ...known })) },
    events: [...warnings, ...endEvents(step.call, template)],
    after: compose(callsChanged([step.call]), noted(outcome.files.length > 0)),
  };
  const last = isLast ? [moved(view, { breakpoint: "POST_TOOL" })] : [];
  const { asked } = outcome.refusedHosts;
  if (asked.length === 0) return joinCommits(ended, ...last);
  const { questions, commit } = hostsAsked(view, call, asked, template, at);
  return joinCommits(
    ended,
    { ...commit, after: compose(commit.after, callsChanged([{ ...step.call, hosts: questions }])) },
    ...last,
  );
}

/** After calls have noted files, if any. */
function noted(isAny: boolean): Reducer {
  return (view) => (isAny ? { ...view, knowsFiles: true } : view);
}

/** The step with what is said of hosts about which nobody is asked behind the output. */
function withLines({ call, transition }: CallStep, hosts: RefusedHosts): CallStep {
  if (hosts.allowedSince.length + hosts.leftOut === 0) return { call, transition };
  const output = outputWith(call.output ?? "", unaskedLines(hosts));
  return { call: { ...call, output }, transition: { ...transition, set: { ...transition.set, output } } };
}

/** A tool that failed, or did not end in time, is told of by the kind of its refusal. One that was interrupted or cancelled did neither. */
function failureOf({ name, error }: CallView, outcome: CallOutcome): readonly { detail: string; message: string }[] {
  if (outcome.kind !== "refused" || error === null || error.type === "aborted") return [];
  return [{ detail: error.type, message: `${name}: ${error.message}` }];
}

function stepOf(call: CallView, outcome: CallOutcome, at: Date): CallStep {
  const { keptOutputBytes } = outcome;
  const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
  if (outcome.kind === "refused") {
    const { refusal, said, soFar } = outcome;
    const { output, details } = said ?? refusedResult(refusal, soFar);
    const facts = { ...common, ...(said === null ? refusedFacts(refusal) : replacedFacts(refusal, said)), output };
    return callStep(call, "FAILED", at, facts, { details, keptOutputBytes }, refusedTrail(refusal));
  }
  const { output, details, cachedFrom } = outcome;
  return callStep(call, "COMPLETED", at, { ...common, output, cachedFrom }, { details, keptOutputBytes });
}
