import type { CallView } from "../../src/agent/calls/call.ts";
import type { RefusedHosts } from "../../src/agent/calls/hosts/call-hosts.ts";
import type { HostQuestion } from "../../src/agent/calls/hosts/host-question.ts";
import type { CallRecord } from "../../src/agent/calls/outcome.ts";
import { callDeferred } from "../../src/agent/loop/commits/calls-run.ts";
import type { RecordTemplate } from "../../src/agent/loop/commits/calls-judged.ts";
import { callsChanged, joinCommits, type Commit } from "../../src/agent/loop/commits/commit.ts";
import { callAsks, inputAsked } from "../../src/agent/loop/commits/input-asked.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "../../src/agent/loop/commits/turns.ts";
import type { AgentView } from "../../src/agent/loop/view.ts";
import { NeedsInput } from "../../src/agent/tools/question.ts";
import type { NotedFile } from "../../src/agent/workspace/known-files.ts";
import type { ToolQuestion } from "../../src/events/tool-question.ts";

/** A commit that an owner may make of a view, and its name. */
export type PossibleCommit = { readonly name: string; readonly make: () => Commit };

const QUESTION: ToolQuestion = {
  server: "own",
  message: "Where to?",
  fields: [
    {
      name: "city",
      title: null,
      description: null,
      isRequired: true,
      kind: "TEXT",
      minLength: null,
      maxLength: null,
      format: null,
      default: null,
    },
  ],
};

type Running = {
  readonly call: CallView;
  readonly record: Omit<CallRecord, "keptOutputBytes">;
  readonly hosts: RefusedHosts;
  readonly files: readonly NotedFile[];
  readonly template: RecordTemplate;
};

let asked = 0;

/** Times of questions, each later than those before it: of two of one call, the newer one counts. */
export function askedAt(): Date {
  return new Date(Date.UTC(2026, 0, 1) + (asked += 1));
}

/** The commits about questions of a tool, and about its task, while its call runs. */
export function askingCommits(view: AgentView, { call, record, hosts, files, template }: Running): PossibleCommit[] {
  if (call.approval?.state === "PENDING") return [{ name: "question withdrawn", make: () => withdrawn(call) }];
  const ran = beforeQuestions(call);
  const needs = new NeedsInput(QUESTION, { sent: call.attempt });
  const asks = (name: string, more: Partial<CallRecord>): PossibleCommit => ({
    name,
    make: () =>
      callAsks(
        view,
        { call, outcome: { ...record, ...more, kind: "asks", keptOutputBytes: 7, asked: needs }, template },
        askedAt(),
      ),
  });
  const task = { taskId: `task:${call.ordinal}`, pollMs: 5_000, process: "process" };
  const later = { ...record, kind: "later", waitsFor: "LATER", dueMs: 60_000, keptOutputBytes: null, task } as const;
  return [
    asks("call asks", {}),
    asks("call asks, files known, hosts asked", { files, refusedHosts: hosts }),
    {
      name: "question of a running call",
      make: () => inputAsked(view, { call, question: QUESTION, expiresMs: 60_000 }, askedAt()).commit,
    },
    {
      name: "call deferred to a task",
      make: () => callDeferred(view, { call: ran, outcome: later, template }, askedAt()),
    },
    {
      name: "call deferred to a task, hosts asked",
      make: () => callDeferred(view, { call: ran, outcome: { ...later, refusedHosts: hosts }, template }, askedAt()),
    },
  ];
}

/** The call does not wait for the answer any longer, and runs on. */
function withdrawn(call: CallView): Commit {
  const sealed = questionsSealed(openQuestions([call]), "the call did not wait for the answer any longer", askedAt());
  return joinCommits(sealed, { change: {}, events: [], after: callsChanged([withQuestionSealed(call)]) });
}

/** The call as it was before its run, in which its tool has asked a person. */
export function beforeQuestions(call: CallView): CallView {
  return call.approval?.kind === "TOOL_INPUT" ? { ...call, approval: null } : call;
}

export type PersonsAnswer = "ALLOWED" | "DENIED" | "EXPIRED";

/** The view after people have answered, or not, all that is asked about hosts, and all questions of tools. */
export function withAnswers(view: AgentView, state: PersonsAnswer): AgentView {
  const closed = new Set(answerable(view));
  const answeredHost = (question: HostQuestion): HostQuestion =>
    question.state === "PENDING" ? { ...question, state } : question;
  const answered = ({ approval, ...call }: CallView): CallView => ({
    ...call,
    approval: approval !== null && closed.has(approval.id) ? { ...approval, state } : approval,
    hosts: call.hosts.map(answeredHost),
  });
  const waits = view.waits.filter(({ kind, ref }) => kind !== "HOST" && !closed.has(ref));
  return { ...view, waits, openHosts: [], calls: view.calls.map(answered) };
}

/** The open questions of tools. */
export function inputsOf({ calls }: AgentView): readonly string[] {
  return calls.flatMap(({ approval }) => (approval?.kind === "TOOL_INPUT" && approval.state === "PENDING" ? [approval.id] : []));
}

/** The open questions about hosts, and those of tools. */
export function answerable(view: AgentView): readonly string[] {
  return [...view.openHosts.map(({ approvalId }) => approvalId), ...inputsOf(view)];
}
