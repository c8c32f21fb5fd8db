import { requestApproval, type ApprovalRequest } from "../../approvals/request.ts";
import type { CallView } from "../../calls/call.ts";
import { endEvents, snapshot } from "../../calls/events.ts";
import { sealCall } from "../../calls/seal.ts";
import { callStep, type CallStep } from "../../calls/states.ts";
import type { Tool } from "../../tools/tool.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import { callsChanged, joinCommits, said, type Commit } from "./commit.ts";
import { stepAbortedIfOpen, type Aborted } from "./step-aborted.ts";

const NOTE = "the server stopped while the tool ran";
const NOTE_BEHIND = "a call before it in the same answer broke off, and its outcome is unknown";

/** The part of a template about calls whose server died while they ran. */
export type RecoveryTemplate = RecordTemplate & { readonly unknownOutcome: "seal" | "ask" };

/** The work that an owner left when it died: calls whose outcome is unknown, and a model call that has no answer. */
export type Left = {
  readonly unknown: readonly CallView[];
  readonly broken: Aborted;
  readonly tools: ReadonlyMap<string, Pick<Tool, "risk" | "readOnly">>;
  /** Null if the template is no longer configured: the calls are sealed then. */
  readonly template: RecoveryTemplate | null;
  /** False if the earlier owner gave the agent back itself, as a server that is stopped does. */
  readonly isTakenOver: boolean;
};

/**
 * The agent goes on after an owner that died. Calls of which nobody knows whether they had effects are never silently run
 * again (invariant 5): a person is asked if the template wants that, else they are sealed. What the same answer would have changed
 * after a sealed call is sealed as well: it was meant for a world in which that call had gone well.
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
  const resumed = said({
    kind: "AGENT_RESUMED",
    strategy: asked.length > 0 ? "MANUAL" : isTakenOver || sealed.length > 0 ? "CRASH" : "PLANNED",
    sealed: sealed.map(({ call }) => snapshot(call)),
  });
  return joinCommits(aborted, calls, resumed);
}

/** The calls that have not begun, may change something, and stand behind the first of those that broke off. */
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
