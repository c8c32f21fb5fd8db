import { askBudget, type AskingStep } from "../../src/agent/approvals/budgets/ask-budget.ts";
import type { Standing } from "../../src/agent/budgets/admission.ts";
import { budgetSnapshot } from "../../src/agent/budgets/snapshot.ts";
import { budgetAsked, budgetStopped } from "../../src/agent/loop/commits/budget-refused.ts";
import { askedAt, askingCommits, beforeQuestions, type PossibleCommit } from "./asking-commits.ts";
import { filesChanged, NO_NEWS, type FileNews } from "../../src/agent/loop/commits/files-changed.ts";
import { shellStarted } from "../../src/agent/loop/commits/shell-started.ts";
import { randomUUID } from "node:crypto";
import type { OwnerChange } from "../../src/db/commit/change.ts";
import type { AgentEventBody } from "../../src/events/event.ts";
import type { ReadyCall } from "../../src/agent/calls/judge.ts";
import { isInputAnswered, type CallView } from "../../src/agent/calls/call.ts";
import type { Validated } from "../../src/agent/calls/stages/validation.ts";
import { NO_HOSTS } from "../../src/agent/calls/hosts/call-hosts.ts";
import type { ShapedAnswer } from "../../src/agent/loop/commits/shapes.ts";
import { answered } from "../../src/agent/loop/commits/answered.ts";
import { callDeferred, callEnded, callsStarted, callsCancelled, recovered } from "../../src/agent/loop/commits/calls-run.ts";
import { callRefused, callsJudged, type Unready } from "../../src/agent/loop/commits/calls-judged.ts";
import type { Commit } from "../../src/agent/loop/commits/commit.ts";
import { stepAborted, stepStarted } from "../../src/agent/loop/commits/steps.ts";
import { memoryChanged } from "../../src/agent/loop/commits/memory.ts";
import { todosWritten } from "../../src/agent/loop/commits/todos.ts";
import { turnEnded, turnSealed, turnStarted } from "../../src/agent/loop/commits/turns.ts";
import type { PresentTools } from "../../src/agent/loop/commits/manual.ts";
import type { AgentView } from "../../src/agent/loop/view.ts";
import type { Passage } from "../../src/agent/calls/stage-clock.ts";
import type { MemoryWrite } from "../../src/agent/calls/memory/agent-memory.ts";
import { MEMORY } from "../../src/db/commit/memory-change.ts";
import type { TodoWrite } from "../../src/agent/calls/todos.ts";
import type { GateStage, TodoItem } from "../../src/events/snapshots.ts";
import type { NotedFile } from "../../src/agent/workspace/known-files.ts";
import { NO_TOKENS, spentOnBroken } from "../../src/agent/models/model.ts";
import type { Explanation, Verdict } from "../../src/agent/policy/permission.ts";
import { digested } from "../../src/agent/tools/images.ts";
import { ownTool, toolWithPrompt } from "./tools.ts";

const TOOL = ownTool("own", () => ({ output: "", details: null }));
const TOOLS = new Map([[TOOL.name, TOOL]]);
const AT = new Date("2026-01-01T00:00:00.000Z");
const RECORD = { approvalQuorum: 1, approvalExpiresMs: 60_000, trace: false } as const;
const OUTCOME = {
  stages: [passage("execution")],
  durationMs: 1.5,
  warnings: [],
  files: [],
  refusedHosts: NO_HOSTS,
  hosts: [],
  child: null,
} as const;
const HOSTS = {
  asked: [
    { host: "a.example", port: 443 },
    { host: "a.example", port: 8443 },
    { host: "b.example", port: 443 },
  ],
  allowedSince: [{ host: "c.example", port: 443 }],
  leftOut: 2,
} as const;
const ONE_HOST = { ...HOSTS, asked: [{ host: "b.example", port: 443 }] } as const;

const TODO = { id: "one", title: "one \0", status: "pending", assignee: null, notes: null } as const;

const LATER = { kind: "later", waitsFor: "LATER", task: null, dueMs: 60_000, keptOutputBytes: 7 } as const;

const MISFITS = [{ path: "/a", message: "must be \u0000 text" }];

/** The checks of an answer that ends a turn with a shape. */
const SHAPED: readonly ShapedAnswer[] = [
  { kind: "fits", value: { text: "said \u0000 \ud800", list: [null] } },
  { kind: "misfit", problems: MISFITS, corrections: 2 },
  { kind: "failed", failure: "invalid", problems: MISFITS },
];

const BROKEN = {
  events: [],
  spent: spentOnBroken({ ...NO_TOKENS, inputTokens: 11 }, 9),
  price: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
};

/** The change of memory that a call makes: an entry of its own. */
function memoryWrite({ id: agentId }: AgentView, { id: callId }: CallView): MemoryWrite {
  const owner = { templateId: "assistant", requester: "anna" };
  const entry = { id: randomUUID(), bytes: 3, lineage: "MODEL" } as const;
  // A call may change memory more than once.
  const path = `/memories/${entry.id}.md`;
  return {
    change: {
      ...owner,
      writtenBy: null,
      writtenByKind: null,
      callId,
      agentId,
      ops: [{ kind: "PUT", path, expected: 0, text: "one", ...entry }],
      claims: [path],
      limits: MEMORY,
      answer: null,
    },
    event: {
      kind: "MEMORY_CHANGED",
      templateId: owner.templateId,
      requesterId: owner.requester,
      memoryAction: "CREATED",
      path,
      newPath: null,
      entryCount: 1,
      entryId: entry.id,
      version: 1,
      bytes: 3,
      lineage: "MODEL",
      callId,
      changedBy: { id: agentId, kind: "SYSTEM" },
    },
  };
}

const STANDING: Standing = {
  budget: {
    id: "00000000-0000-4000-8000-000000000001",
    per: "TENANT",
    templateId: null,
    subject: null,
    millionths: 1_000,
    tokens: null,
    window: "NONE",
    timeZone: "UTC",
    warnAt: 0.8,
    action: "ASK",
    origin: { kind: "CONFIGURATION" },
  },
  ref: "",
  period: {
    budgetId: "00000000-0000-4000-8000-000000000001",
    ref: "",
    startsAt: "1970-01-01T00:00:00.000Z",
    endsAt: null,
    spentMillionths: 900,
    spentTokens: 9,
    estimatedMillionths: 0,
    heldMillionths: 0,
    heldTokens: 0,
    isUnpriced: false,
    hasWarned: true,
    raisedMillionths: null,
    raisedTokens: null,
  },
};
const HOLD = { ...STANDING.period, millionths: 7, tokens: 3, mostMillionths: null, mostTokens: null, warns: false };
const EXPIRING = { approvalQuorum: 1, approvalExpiresMs: null };

function budgetStep({ turn, stepCount }: AgentView): AskingStep {
  return { turn, step: stepCount + 1, expected: { millionths: 200, tokens: 20 }, average: null };
}

/** Two files that a call knows: one that every call reads or writes, and one of its own. */
function knownBy({ id, ordinal }: CallView, isWhole: boolean): readonly NotedFile[] {
  const file = {
    access: isWhole ? "WRITTEN" : "READ",
    digest: "same",
    bytes: 3_000_000_000,
    modifiedAt: AT,
    stamp: "1 2 3",
  } as const;
  return [
    { ...file, path: "shared/\ud800.txt", isWhole },
    { ...file, path: `own/${ordinal}.txt`, digest: id.slice(0, 4), isWhole: false },
  ];
}

/** Two files of `knownBy` that something else has changed, if they are known by these calls. */
const CHANGED_FILE = { callId: "call", digest: "same", bytes: 3, stamp: "1 2 3", change: null } as const;
const SHARED_REMOVED = { file: { ...CHANGED_FILE, path: "shared/\ud800.txt" }, change: "REMOVED", state: null } as const;
const OWN_REMOVED = { file: { ...CHANGED_FILE, path: "own/0.txt" }, change: "REMOVED", state: null } as const;
const FILE_NEWS: FileNews = { changes: [SHARED_REMOVED], known: ["own/0.txt"] };

/** The tools of a server that change with each step. */
function toolsAt(step: number, mayComeLater: boolean): PresentTools {
  const one = toolWithPrompt("one", `one ${step % 3}`);
  return { tools: [one, ...(step % 2 === 0 ? [toolWithPrompt("__proto__", "sometimes")] : [])], mayComeLater };
}

/** All commits that the owner of an agent may make of this view, those of every kind that fits its rows. */
export function possibleCommits(view: AgentView): readonly PossibleCommit[] {
  const possible: PossibleCommit[] = [];
  const may = (name: string, make: () => Commit): void => void possible.push({ name, make });
  if (view.state === "READY") {
    if (view.waiting.length > 0) {
      may("turn started", () => turnStarted(view, null, AT));
      const template = {
        digest: `data ${view.turn % 2}`,
        version: "one \0",
        data: { systemPrompt: "Go. \0" },
        watchFiles: "always",
      } as const;
      may("turn started with another version", () => turnStarted(view, template, AT));
    }
    return possible;
  }
  may("turn sealed", () =>
    turnSealed(
      view,
      {
        reason: "INTERRUPTED",
        note: "stop \0",
        modelNote: "stopped \0",
        broken: BROKEN,
        events: [],
        trace: false,
        tools: TOOLS,
        children: new Map(),
      },
      AT,
    ),
  );
  if (view.knowsFiles) may("files changed", () => filesChanged(view, [SHARED_REMOVED, OWN_REMOVED], AT));
  const isOpen = view.lastStep?.state === "STARTED";
  if (isOpen) {
    for (const calls of [0, 1, 3])
      for (const stopReason of ["end_turn", "tool_use", "pause_turn"] as const)
        may(`answered with ${calls} calls, ${stopReason}`, () => answerOf(view, calls, stopReason));
    for (const shaped of SHAPED) may(`answered in a shape: ${shaped.kind}`, () => answerOf(view, 0, "end_turn", shaped));
    may("step aborted", () => stepAborted(view, BROKEN, AT));
    may("recovered", () => recovered(view, { unknown: [], broken: BROKEN, tools: TOOLS, template: null, isTakenOver: true }, AT));
    return possible;
  }
  const isFinal = ({ state }: CallView): boolean => ["COMPLETED", "FAILED", "DENIED", "SEALED"].includes(state);
  if (view.lastMessageKind !== "ASSISTANT" || (view.calls.every(isFinal) && view.waits.length === 0)) {
    const facts = {
      model: "test",
      files: NO_NEWS,
      present: { tools: [], mayComeLater: false },
      todos: null,
      memory: null,
      budget: null,
    };
    may("step started", () => stepStarted(view, facts, AT));
    for (const mayComeLater of [false, true])
      may(`step started with a manual${mayComeLater ? " and a fixed list of tools" : ""}`, () =>
        stepStarted(view, { ...facts, present: toolsAt(view.stepCount, mayComeLater) }, AT),
      );
    const todos = { todoReason: "INTERVAL", todos: [TODO] } as const;
    may("step started with a reminder", () => stepStarted(view, { ...facts, todos }, AT));
    may("step started with a list of memory", () => stepStarted(view, { ...facts, memory: "Your memory" }, AT));
    may("step started within a budget", () => stepStarted(view, { ...facts, budget: { holds: [HOLD], events: [] } }, AT));
    may("budget asked for", () => budgetAsked(askBudget(view, STANDING, budgetStep(view), EXPIRING, AT), AT));
    may("stopped by a budget", () => budgetStopped(view, budgetSnapshot(STANDING, true), null, AT));
    if (view.knowsFiles) may("step started, files changed", () => stepStarted(view, { ...facts, files: FILE_NEWS }, AT));
    may("turn ended", () => turnEnded(view, { reason: "MAX_STEPS", note: null }, AT));
  }
  for (const call of view.calls) for (const commit of commitsOfCall(view, call)) possible.push(commit);
  return possible;
}

function todosOf({ id: callId }: CallView, todos: readonly TodoItem[]): TodoWrite {
  return { callId, previousTodos: [TODO], todos, remindWhenEmptied: true };
}

let shellsStarted = 0;

/** A shell that a call leaves running, started later than each one before it: a view has them in this order. */
function shellStart(view: AgentView, call: CallView): NonNullable<OwnerChange["shellStart"]> {
  const { id: agentId, tenant } = view;
  const ends = { endWanted: null, endReason: null, exitCode: null, signal: null, endedAt: null };
  const place = { id: randomUUID(), tenant, agentId, callId: call.id, command: "sleep 1", server: "here", host: "test" };
  const startedAt = new Date(AT.getTime() + (shellsStarted += 1));
  return { row: { ...place, ...ends, leaseUntil: null, state: "RUNNING", startedAt }, limit: 1_000, leaseMs: 15_000 };
}

function shellEvent(call: CallView): AgentEventBody {
  return { kind: "SHELL_STARTED", shellId: "shell", callId: call.id, command: "sleep 1" };
}

function commitsOfCall(view: AgentView, call: CallView): readonly PossibleCommit[] {
  switch (call.state) {
    case "PENDING":
    case "APPROVED": {
      const judged = (judgement: Unready): Commit => callsJudged(view, { judgements: [judgement], template: RECORD }, AT);
      const refusal = { type: "not_found", stage: "discovery", name: "nowhere", available: ["own"] } as const;
      return [
        { name: "call refused", make: () => judged({ kind: "refused", call, refusal, stages: [passage("discovery")] }) },
        {
          name: "call denied",
          make: () => judged({ ...judgedCall(call, "deny"), kind: "denied", refusal: DENIED, failedHook: null }),
        },
        {
          name: "call answered",
          make: () =>
            judged({ ...judgedCall(call, "allow"), kind: "answered", result: { output: "said \ud800", details: { by: 1 } } }),
        },
        {
          name: "call asked",
          make: () =>
            judged({
              ...judgedCall(call, "ask"),
              kind: "asked",
              inputHash: "hash",
              reason: "it writes",
              meta: null,
              preview: { files: [{ path: "a \0", diff: "+a \ud800" }], problem: null },
            }),
        },
        {
          name: "call busy",
          make: () =>
            callRefused(
              view,
              {
                judged: judgedCall(call, "allow"),
                refusal: { type: "tool_busy", stage: "execution", waitedMs: 5 },
                template: RECORD,
              },
              AT,
            ),
        },
        { name: "call started", make: () => callsStarted(view, { ready: [readyCall(call)], trace: true }, AT) },
      ];
    }
    case "EXECUTING":
      return commitsOfRunning(view, call);
    case "APPROVAL_REQUIRED":
      return isInputAnswered(call)
        ? [
            { name: "call continued", make: () => callsStarted(view, { ready: [readyCall(call)], trace: true }, AT) },
            cancelled(call),
          ]
        : [cancelled(call)];
    case "WAITING":
      return [cancelled(call)];
    default:
      return [];
  }
}

function cancelled(call: CallView): PossibleCommit {
  const request = { by: { id: "anna", kind: "USER" }, note: "no \0", at: AT.toISOString() } as const;
  return { name: "call cancelled", make: () => callsCancelled([{ call, request }], { trace: true }, AT) };
}

/** A call ends when no question of its tool is open. */
function commitsOfRunning(view: AgentView, call: CallView): readonly PossibleCommit[] {
  const recover = (unknownOutcome: "ask" | "seal"): Commit => {
    const unknown = view.calls.filter(({ state }) => state === "EXECUTING");
    const template = { ...RECORD, unknownOutcome };
    return recovered(view, { unknown, broken: BROKEN, tools: TOOLS, template, isTakenOver: true }, askedAt());
  };
  const files = knownBy(call, false);
  return [
    ...askingCommits(view, { call, record: OUTCOME, hosts: HOSTS, files, template: RECORD }),
    ...(call.approval?.state === "PENDING" ? [] : endsOf(view, beforeQuestions(call))),
    { name: "todos written", make: () => todosWritten(view, todosOf(call, [TODO]), AT) },
    { name: "todos emptied", make: () => todosWritten(view, todosOf(call, []), AT) },
    { name: "memory changed", make: () => memoryChanged(memoryWrite(view, call), AT) },
    { name: "shell started", make: () => shellStarted(shellStart(view, call), shellEvent(call)) },
    { name: "recovered, calls sealed", make: () => recover("seal") },
    { name: "recovered, people asked", make: () => recover("ask") },
  ];
}

const IMAGE = digested({ mediaType: "image/png", data: "aQ==" });

/** The ends of a run. `call` is as it was at its start. */
function endsOf(view: AgentView, call: CallView): readonly PossibleCommit[] {
  const isLast = view.calls.filter(({ state }) => state === "EXECUTING").length === 1;
  const completed = {
    ...OUTCOME,
    kind: "completed",
    output: "done \0",
    details: [1],
    images: [],
    keptOutputBytes: null,
    cachedFrom: null,
    fresh: null,
  } as const;
  const failed = {
    ...OUTCOME,
    kind: "refused",
    refusal: { type: "timeout", stage: "execution", afterMs: 9, waitedSince: null, readOnly: false },
    said: null,
    soFar: "half of it",
    keptOutputBytes: 7,
  } as const;
  return [
    { name: "call completed", make: () => callEnded(view, { call, outcome: completed, isLast, template: RECORD }, AT) },
    {
      name: "call completed with an image",
      make: () => callEnded(view, { call, outcome: { ...completed, images: [IMAGE] }, isLast, template: RECORD }, AT),
    },
    {
      name: "call completed with an earlier result",
      make: () => callEnded(view, { call, outcome: { ...completed, cachedFrom: "earlier" }, isLast, template: RECORD }, AT),
    },
    {
      name: "call completed with files",
      make: () => callEnded(view, { call, outcome: { ...completed, files: knownBy(call, true) }, isLast, template: RECORD }, AT),
    },
    {
      name: "call failed with files",
      make: () => callEnded(view, { call, outcome: { ...failed, files: knownBy(call, false) }, isLast, template: RECORD }, AT),
    },
    {
      name: "call deferred",
      make: () => callDeferred(view, { call, outcome: { ...OUTCOME, ...LATER }, template: RECORD }, AT),
    },
    {
      name: "call handed to a client",
      make: () => callDeferred(view, { call, outcome: { ...OUTCOME, ...LATER, waitsFor: "CLIENT_TOOL" }, template: RECORD }, AT),
    },
    {
      name: "call deferred, hosts asked",
      make: () => callDeferred(view, { call, outcome: { ...OUTCOME, ...LATER, refusedHosts: HOSTS }, template: RECORD }, AT),
    },
    {
      name: "call completed, hosts asked",
      make: () =>
        callEnded(
          view,
          { call, outcome: { ...completed, hosts: ["a.example", "b.example"], refusedHosts: HOSTS }, isLast, template: RECORD },
          AT,
        ),
    },
    {
      name: "call failed, one host asked",
      make: () => callEnded(view, { call, outcome: { ...failed, refusedHosts: ONE_HOST }, isLast, template: RECORD }, AT),
    },
    { name: "call failed", make: () => callEnded(view, { call, outcome: failed, isLast, template: RECORD }, AT) },
  ];
}

const DENIED = { type: "permission_denied", stage: "permission", reason: "a rule", result: null } as const;

function answerOf(
  view: AgentView,
  calls: number,
  stopReason: "end_turn" | "tool_use" | "pause_turn",
  shaped: ShapedAnswer | null = null,
): Commit {
  const asked = Array.from({ length: calls }, (_, index) => ({
    providerId: `${view.stepCount}-${index}`,
    name: "own",
    requestedInput: { text: `in \u0001 ${index} \ud800` },
  }));
  const content = [
    { type: "text", text: "Said." } as const,
    ...asked.map(({ providerId, name, requestedInput }) => ({
      type: "tool_use" as const,
      id: providerId,
      name,
      input: requestedInput,
    })),
  ];
  const answer = { content, calls: asked, stopReason, usage: NO_TOKENS };
  const model = { name: "test", price: null };
  const context = { contextTokens: 100, contextBytes: 400, contextWindow: null };
  return answered(
    view,
    {
      answer,
      texts: [],
      spent: BROKEN.spent,
      times: { durationMs: 1, firstTokenMs: null },
      context,
      // Its parts are known: a commit that stores some is not composed.
      sent: { record: { hash: "h", frame: "f", length: 1, isFirstOfTurn: true }, parts: [] },
      model,
      slowStepMs: 1_000,
      trace: true,
      shaped,
    },
    AT,
  );
}

function passage(stage: GateStage): Passage {
  return { stage, startedAt: AT.getTime(), durationMs: 0.25 };
}

function judgedCall(call: CallView, verdict: Verdict): Omit<ReadyCall, "kind" | "confirmed"> {
  const bound = TOOL.bind({});
  if (!bound.ok) throw new Error("the tool takes nothing");
  const request = { tenant: "one", agentId: "agent", callId: call.id, name: call.name, form: "json", input: {} } as const;
  const validated: Validated = { request, tool: TOOL, bound: bound.value };
  const explanation: Explanation = { verdict, decidedBy: "mode", place: "mode", reason: "why", considered: [] };
  const values = { text: [{ kind: "text", text: "in \0" }] } as const;
  return { call, validated, values, explanation, stages: [...call.stages, passage("permission")] };
}

function readyCall(call: CallView): ReadyCall {
  const judged = judgedCall(call, "allow");
  return { ...judged, kind: "ready", confirmed: { call: judged.validated, inputHash: "hash", by: null } };
}
