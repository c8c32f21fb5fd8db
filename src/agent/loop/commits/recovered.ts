import { requestApproval, type ApprovalRequest } from "../../approvals/request.ts";
import type { CallView } from "../../calls/call.ts";
import { endEvents, snapshot } from "../../calls/events.ts";
import { sealCall } from "../../calls/seal.ts";
import { callStep, type CallStep } from "../../calls/states.ts";
import type { Tool } from "../../tools/tool.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import { callsChanged, joinCommits, eventsOnly, type Commit } from "./commit.ts";
import { stepAbortedIfOpen, type Aborted } from "./step-aborted.ts";

const NOTE = "the server stopped while the tool ran";
const NOTE_BEHIND = "a call before it in the same answer broke off, and its outcome is unknown";

export type RecoveryTemplate = RecordTemplate & { readonly unknownOutcome: "seal" | "ask" };

export type Left = {
  readonly unknown: readonly CallView[];
  readonly broken: Aborted;
  readonly tools: ReadonlyMap<string, Pick<Tool, "risk" | "readOnly">>;
  /** Null if the template is no longer configured: its calls are sealed. */
  readonly template: RecoveryTemplate | null;
  /** False if the earlier owner released the agent itself, as a server does that shuts down. */
  readonly isTakenOver: boolean;
};

/**
 * Continues an agent after its owner stopped. Calls with an unknown outcome are never run again silently (invariant 5):
 * they are asked about or sealed, as the template says. If a call is sealed, later calls of the same answer that change
 * something are sealed too: they were planned for its success.
 */
export function recovered(view: AgentView, { unknown, broken, tools, template, isTakenOver }: Left, at: Date): Commit {
  const aborted = stepAbortedIfOpen(view, broken, at);
  const isAsked = template?.unknownOutcome === "ask";
  const asked = isAsked ? unknown.map((call) => ask(view, call, tools.get(call.name)?.risk ?? "MEDIUM", template, at)) : [];
  const behind = isAsked ? [] : changesBehind(view, unknown, tools);
  const sealed = isAsked
    ? []
    : [
        ...unknown.map((call) => sealCall(call, { note: NOTE }, at)),
        ...behind.map((call) => sealCall(call, { note: NOTE_BEHIND }, at)),
      ];
  const calls: Commit = {
    change: {
      transitions: [...asked, ...sealed].map(({ transition }) => transition),
      approvals: asked.map(({ request }) => request.row),
      ...(asked.length === 0 ? {} : { agent: { lastActivityAt: at } }),
    },
    events: [...asked.map(({ request }) => request.event), ...sealed.flatMap(({ call }) => endEvents(call, template))],
    after: callsChanged([...asked, ...sealed].map(({ call }) => call)),
  };
  const resumed = eventsOnly({
    kind: "AGENT_RESUMED",
    strategy: asked.length > 0 ? "MANUAL" : isTakenOver || sealed.length > 0 ? "CRASH" : "PLANNED",
    sealed: sealed.map(({ call }) => snapshot(call)),
  });
  return joinCommits(aborted, calls, resumed);
}

function changesBehind(view: AgentView, unknown: readonly CallView[], tools: Left["tools"]): readonly CallView[] {
  const first = Math.min(...unknown.map(({ ordinal }) => ordinal));
  return view.calls.filter(
    ({ ordinal, state, name }) =>
      ordinal > first && (state === "PENDING" || state === "APPROVED") && tools.get(name)?.readOnly !== true,
  );
}

function ask(
  view: AgentView,
  call: CallView,
  risk: string,
  template: RecoveryTemplate,
  at: Date,
): CallStep & { readonly request: ApprovalRequest } {
  const reason = `${NOTE}: whether it had effects is unknown. Look, and say DONE with its result, RETRY to run it again, or FAIL`;
  const step = callStep(call, "APPROVAL_REQUIRED", at, {}, {}, { note: NOTE });
  const { inputHash } = call;
  if (inputHash === null) throw new Error(`call ${call.id} ran without a hash of its input`);
  const request = requestApproval(
    view,
    {
      kind: "OUTCOME_UNKNOWN",
      call: step.call,
      input: call.effectiveInput,
      inputHash,
      reason,
      risk,
      meta: null,
      preview: null,
      quorum: template.approvalQuorum,
      at,
    },
    template,
  );
  return { ...step, call: request.call, request };
}
