import { randomUUID, randomUUIDv7 } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TRANSITIONS } from "../../../src/agent/calls/call.ts";
import { askInBackground } from "../../../src/agent/approvals/hosts/ask-host.ts";
import type { Commit } from "../../../src/agent/loop/commits/commit.ts";
import { claim, LEASE_TIMES } from "../../../src/agent/loop/lease.ts";
import { parked } from "../../../src/agent/loop/commits/turns.ts";
import type { AgentServices } from "../../../src/agent/loop/scope.ts";
import { readView, type AgentView } from "../../../src/agent/loop/view.ts";
import { OWNER_PARTS } from "../../../src/db/commit/parts.ts";
import type { ToolCallState } from "../../../src/db/generated/enums.ts";
import type { AgentEventBody } from "../../../src/events/event.ts";
import { answerable, inputsOf, withAnswers, type PersonsAnswer, type PossibleCommit } from "../../support/asking-commits.ts";
import { possibleCommits } from "../../support/commits.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent } from "../../support/held-agent.ts";
import { playedModel } from "../../support/models.ts";
import { shellRow, withoutShell } from "../../support/shell-row.ts";
import { commitEnd } from "../../../src/agent/calls/shells/ended.ts";
import type { NoticeView } from "../../../src/agent/calls/notices.ts";
import { answerTold } from "../../../src/agent/approvals/hosts/answered-host.ts";
import { NO_NEWS } from "../../../src/agent/loop/commits/files-changed.ts";
import { stepStarted } from "../../../src/agent/loop/commits/steps.ts";
import { newAgentView } from "../../support/agent-view.ts";
import { testServices } from "../../support/services.ts";

/** The choices of a random run: which of the commits that are possible is made, and where messages arrive. */
const RUN = fc.array(fc.record({ choice: fc.nat(1_000), arrives: fc.nat(4) }), { minLength: 5, maxLength: 60 });

const NEW_AGENT = newAgentView();

/** One random run without a database: every commit that is made, with the view that it was made of. */
function commitsOf(run: readonly { choice: number; arrives: number }[]): { view: AgentView; commit: Commit }[] {
  const made: { view: AgentView; commit: Commit }[] = [];
  let view = NEW_AGENT;
  const make = (commit: Commit): void => {
    made.push({ view, commit });
    view = commit.after(view);
  };
  for (const { choice, arrives } of run) {
    if (arrives === 0 || (view.state === "READY" && view.waiting.length === 0)) view = withMessage(view);
    if (arrives === 1) view = withEndedShell(view);
    if (arrives > 1 && answerable(view).length > 0) view = withAnswers(view, answerOf(choice));
    make(chosen(view, choice).make());
  }
  // The first of all seals the turn.
  if (view.state !== "READY") make(chosen(view, 0).make());
  return made;
}

/** One of the commits that are possible. */
function chosen(view: AgentView, choice: number): PossibleCommit {
  const possible = possibleCommits(view);
  const commit = possible[choice % possible.length];
  if (commit === undefined) throw new Error("an agent with a message can always go on");
  return commit;
}

/** After the first of its shells that run has ended, if one runs. */
function withEndedShell(view: AgentView): AgentView {
  const [first, ...shells] = view.shells;
  return first === undefined
    ? view
    : withNotices({ ...view, shells }, { source: "SHELL", ref: first.id, text: `${first.id} has ended.` });
}

function withNotices(view: AgentView, ...news: readonly Omit<NoticeView, "id">[]): AgentView {
  return {
    ...view,
    notices: [...view.notices, ...news.map(({ source, ref, text }) => ({ id: randomUUIDv7(), source, ref, text }))],
  };
}

function answerOf(choice: number): PersonsAnswer {
  return (["ALLOWED", "DENIED", "EXPIRED"] as const)[choice % 3] ?? "ALLOWED";
}

function withMessage(view: AgentView): AgentView {
  return { ...view, waiting: [...view.waiting, randomUUID()] };
}

/** Only children return. */
const MADE_ELSEWHERE = ["returns", "compactions", "compactionMoved"];

/** A schedule that each step triggers. */
const SCHEDULE: AgentView["schedules"][number] = {
  id: "schedule",
  text: "Look.",
  everySteps: 1,
  nextStep: 1,
  triggered: 0,
  moves: 0,
  createdBy: "anna",
  createdByKind: "USER",
};

/** The view as it is when news waits for the model: notices, and an interrupt with a note. */
function withNews(view: AgentView): AgentView {
  return withNotices(
    { ...view, interruptAt: "2026-01-01T00:00:00.000Z", interruptNote: "stop" },
    { source: "SHELL", ref: "shell", text: "A shell has ended." },
    { source: "FILE", ref: "own/0.txt", text: "own/0.txt" },
    { source: "HOST", ref: "approval", text: "[The connection to a.example was refused.]" },
    { source: "LATER", ref: "one", text: "What a later version tells." },
  );
}

describe("the commits of an owner, in whatever order the rows allow", () => {
  it("make every part that a change of an owner may have: none is left out of what is tried here", () => {
    const made = fc.sample(RUN, { numRuns: 200, seed: 1 }).flatMap((run) =>
      commitsOf(run).flatMap(({ view, commit }) => {
        const more = possibleCommits({ ...withNews(view), schedules: [SCHEDULE] }).map(({ make }) => make());
        return view.state === "READY" ? [commit, parked(view)].concat(more) : [commit].concat(more);
      }),
    );
    const parts = new Set(made.flatMap(({ change }) => Object.keys(change)));
    expect([...parts, ...MADE_ELSEWHERE].toSorted()).toEqual(Object.keys(OWNER_PARTS).toSorted());
  });

  it("change calls with an event only, and make all calls of a step at once, behind those of before: the audit looks no further", () => {
    fc.assert(
      fc.property(RUN, (run) => {
        let newest = -1;
        for (const { commit } of commitsOf(run)) {
          const { toolCalls = [], transitions = [] } = commit.change;
          if (toolCalls.length + transitions.length > 0) expect(commit.events).not.toEqual([]);
          if (toolCalls.length === 0) continue;
          const steps = new Set(toolCalls.map(({ step }) => step));
          expect(steps.size).toBe(1);
          for (const step of steps) expect(step).toBeGreaterThan(newest);
          newest = Math.max(...steps);
        }
      }),
    );
  });

  it("take calls along the table of states only, from the state that their rows are in", () => {
    fc.assert(
      fc.property(RUN, (run) => {
        const states = new Map<string, ToolCallState>();
        for (const { commit } of commitsOf(run)) {
          for (const { id, state } of commit.change.toolCalls ?? []) states.set(id, state);
          for (const { id, from, set } of commit.change.transitions ?? []) {
            expect(from).toBe(states.get(id));
            expect(TRANSITIONS[from]).toContain(set.state);
            states.set(id, set.state);
          }
        }
      }),
    );
  });

  it("report each call by one TOOL_START before one TOOL_END, and leave one result in source order (invariant 6)", () => {
    fc.assert(
      fc.property(RUN, (run) => {
        const made = commitsOf(run);
        const events = made.flatMap(({ commit }) => commit.events);
        const idsOf = (kind: "TOOL_START" | "TOOL_END"): string[] =>
          events.flatMap((body) => (body.kind === kind ? [body.call.callId] : []));
        const calls = made.flatMap(({ commit }) => commit.change.toolCalls ?? []);
        expect(idsOf("TOOL_START").toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
        expect(idsOf("TOOL_END").toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
        for (const { id } of calls)
          expect(events.findIndex((body) => body.kind === "TOOL_START" && body.call.callId === id)).toBeLessThan(
            events.findIndex((body) => body.kind === "TOOL_END" && body.call.callId === id),
          );
        const blocks = made
          .flatMap(({ commit }) => commit.change.messages ?? [])
          .flatMap(({ content }) => content as { type: string; id?: string; tool_use_id?: string }[]);
        expect(blocks.flatMap(({ tool_use_id: id }) => id ?? [])).toEqual(
          blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : [])),
        );
      }),
    );
  });

  it("tell the model once of each notice, and of no shell that runs", () => {
    let notices = 0;
    fc.assert(
      fc.property(RUN, (run) => {
        const told = new Set<string>();
        for (const { view, commit } of commitsOf(run)) {
          const { step = null, ids = [] } = commit.change.noticesTold ?? {};
          if (ids.length > 0) expect(step).toBe(commit.change.stepStart?.step);
          for (const id of ids) {
            const notice = view.notices.find((each) => each.id === id);
            expect(told.has(id)).toBe(false);
            expect(JSON.stringify(commit.change.messages)).toContain(notice?.text);
            told.add(id);
            notices += 1;
            if (notice?.source === "SHELL") expect(view.shells.map((shell) => shell.id)).not.toContain(notice.ref);
          }
          expect(commit.after(view).notices.filter(({ id }) => told.has(id))).toEqual([]);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(notices).toBeGreaterThan(0);
  });

  it("tell all at the beginning of a step, in one message of one text a source, and leave what only later versions know", () => {
    const view = withNews({ ...NEW_AGENT, state: "WORKING", turn: 1 });
    const { change, after } = stepStarted(
      view,
      { model: "test", files: NO_NEWS, present: { tools: [], mayComeLater: false }, todos: null, memory: null, budget: null },
      new Date(),
    );
    expect(change.messages?.map(({ kind, content }) => [kind, content])).toEqual([
      [
        "USER",
        [
          { type: "text", text: "[A shell has ended.]" },
          {
            type: "text",
            text: "[This file was changed since you last read or wrote it, and not by your file tools: own/0.txt. Read a file again before you rely on what you know of it.]",
          },
          {
            type: "text",
            text: "[Programs in the background tried to reach hosts.]\n[The connection to a.example was refused.]",
          },
        ],
      ],
    ]);
    expect(after(view).notices.map(({ source }) => source)).toEqual(["LATER"]);
    expect(after(view).transcriptLength).toBe(1);
  });

  it("ask for a host once while it is open, and let results join with an answer to each question of their calls", () => {
    let asked = 0;
    fc.assert(
      fc.property(RUN, (run) => {
        for (const { view, commit } of commitsOf(run)) {
          for (const { host, port } of commit.change.approvals ?? []) {
            if (host === null) continue;
            expect(view.openHosts.some((question) => question.host === host && question.port === port)).toBe(false);
            asked += 1;
          }
          const told = commit.events.flatMap((body) =>
            body.kind === "PERMISSION_REQUIRED" && body.request.host !== null ? [body] : [],
          );
          expect(told.length).toBe((commit.change.approvals ?? []).filter(({ host }) => host !== null).length);
          const results = (commit.change.messages ?? []).filter(({ kind }) => kind === "TOOL_RESULTS");
          if (results.length === 0) continue;
          const lines =
            JSON.stringify(results).match(
              /was refused\. (?:It is allowed now|A person denied|Nobody answered|The turn ended)/g,
            ) ?? [];
          const questions = view.calls.reduce((sum, { hosts }) => sum + hosts.length, 0);
          const unasked = view.calls.filter(({ output }) => output?.includes("c.example")).length;
          expect(lines.length).toBe(questions + unasked);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(asked).toBeGreaterThan(10);
  });

  it("hold back a call by exactly the waits for what it waits for: its question, its result and, beside that, its task", () => {
    let asked = 0;
    let tasks = 0;
    fc.assert(
      fc.property(RUN, (run) => {
        for (const { view, commit } of commitsOf(run)) {
          const after = commit.after(view);
          for (const { id, state, approval } of after.calls) {
            const kinds = after.waits.flatMap(({ kind, callId }) => (callId === id && kind !== "HOST" ? [kind] : []));
            const isOpen = approval?.state === "PENDING";
            if (isOpen) expect(["EXECUTING", "APPROVAL_REQUIRED"]).toContain(state);
            if (state === "WAITING") expect(kinds).toEqual([expect.stringMatching(/^(?:LATER|CLIENT_TOOL)$/)]);
            else expect(kinds).toEqual(isOpen ? ["APPROVAL"] : []);
          }
          const inputs = (commit.change.approvals ?? []).filter(({ kind }) => kind === "TOOL_INPUT");
          asked += inputs.length;
          for (const { toolCallId } of inputs)
            expect(view.calls.find(({ id }) => id === toolCallId)).toMatchObject({ state: "EXECUTING" });
          for (const { kind, callId } of commit.change.waits ?? []) {
            if (kind !== "MCP_TASK") continue;
            tasks += 1;
            expect(commit.change.transitions).toMatchObject([{ id: callId, set: { state: "WAITING" } }]);
          }
        }
      }),
      { numRuns: 1_000 },
    );
    expect(asked).toBeGreaterThan(10);
    expect(tasks).toBeGreaterThan(10);
  });

  it("tell of every change of state and breakpoint from where the agent stood, and end each turn by one DONE", () => {
    fc.assert(
      fc.property(RUN, (run) => {
        const made = commitsOf(run);
        for (const { view, commit } of made) {
          const after = commit.after(view);
          expect(follow(commit.events, view)).toEqual({ state: after.state, breakpoint: after.breakpoint });
        }
        const done = made.flatMap(({ commit }) => commit.events).flatMap((body) => (body.kind === "DONE" ? [body.turn] : []));
        expect(done).toEqual(done.map((_, index) => index + 1));
        const last = made.at(-1);
        expect(done.length).toBe(last?.commit.after(last.view).turn);
      }),
    );
  });

  it("leave the rows as `after` says, read back from a database", { timeout: 60_000 }, async () => {
    const { sql } = await testDatabase();
    const services = testServices(sql, playedModel());
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(RUN, async (run) => {
        const rows = await checkedRows(services, seen);
        for (const { choice, arrives } of run) {
          if (arrives === 0 || (rows.view.state === "READY" && rows.view.waiting.length === 0)) await rows.claimAgain();
          if (arrives === 1) await rows.endShell();
          if (arrives > 1 && answerable(rows.view).length > 0) await rows.answer(answerOf(choice));
          await rows.commit(chosen(rows.view, choice));
        }
      }),
      { numRuns: 25 },
    );
    expect(seen.size).toBeGreaterThan(15);
  });

  it.each([
    [["call started", "call started", "call failed, one host asked", "call completed, hosts asked", "turn sealed"]],
    [["call started", "call completed, hosts asked", "DENIED", "call refused", "call denied", "step started"]],
    [["call started", "call failed, one host asked", "EXPIRED", "call started", "call completed, hosts asked", "turn sealed"]],
    [["call started", "call completed", "call denied", "call denied", "program asks", "EXPIRED", "step started"]],
    [["call started", "call asks, files known, hosts asked", "ALLOWED", "call continued", "call asks", "turn sealed"]],
    [["call started", "call asks", "DENIED", "call continued", "question of a running call", "recovered, people asked"]],
    [["call started", "question of a running call", "ALLOWED", "call completed, hosts asked", "turn sealed"]],
    [["call started", "question of a running call", "EXPIRED", "call deferred to a task", "call cancelled"]],
    [["call started", "question of a running call", "question withdrawn", "call deferred to a task, hosts asked", "DENIED"]],
  ])("leave the rows as `after` says: %j", async (names) => {
    const { sql } = await testDatabase();
    const rows = await checkedRows(testServices(sql, playedModel()), new Set());
    for (const name of ["turn started", "step started", "answered with 3 calls, tool_use", ...names]) {
      if (name === "ALLOWED" || name === "DENIED" || name === "EXPIRED") await rows.answer(name);
      else if (name === "program asks") await rows.askInBackground();
      else {
        const commit = possibleCommits(rows.view).find((possible) => possible.name === name);
        if (commit === undefined) throw new Error(`${name} is not possible`);
        await rows.commit(commit);
      }
    }
  });
});

/** The rows of an agent that is held, compared with what each commit says of them. */
async function checkedRows(services: AgentServices, seen: Set<string>) {
  const { sql, log } = services;
  const { agentId, send } = await heldAgent(services);
  const read = async (): Promise<AgentView> => normal(await readView(sql, agentId));
  const claimed = async (): Promise<AgentView> => {
    await send("go");
    await claim(sql, "here", [agentId], LEASE_TIMES, "RUN_OUT");
    return read();
  };
  const rows = {
    view: await claimed(),
    commit: async ({ name, make }: PossibleCommit): Promise<void> => {
      const { change, events, after } = make();
      const drafts = events.map((body) => ({ at: new Date(), body }));
      const fence = { owner: "here", epoch: rows.view.leaseEpoch };
      const part = { agentId, createdBy: rows.view.createdBy, fence, events: drafts };
      expect((await log.commitHeld(rows.view.tenant, part, change)).outcome, name).toBe("COMMITTED");
      seen.add(name);
      const now = await read();
      expect(now, name).toEqual(normal(after(rows.view)));
      rows.view = now;
    },
    claimAgain: async (): Promise<void> => {
      await rows.commit({ name: "parked", make: () => parked(rows.view) });
      rows.view = await claimed();
    },
    /** The first of its shells that run ends, if one runs. */
    endShell: async (): Promise<void> => {
      const [shell] = rows.view.shells;
      if (shell === undefined) return;
      const { tenant, createdBy } = rows.view;
      const row = { ...shell, tenant, agentId, createdBy, callId: "call", startedAt: new Date() };
      const end = { endReason: "EXITED", exitCode: 0, signal: null } as const;
      expect(await commitEnd({ log, sql }, row, end, "here", new Date())).toBe(true);
      rows.view = await read();
    },
    /** A program that its first call left asks for a host. */
    askInBackground: async (): Promise<void> => {
      const { id, tenant, createdBy, templateId, calls } = rows.view;
      const program = {
        agent: { id, tenant, createdBy, templateId, templateVersion: null, permission: null },
        callId: calls[0]?.id ?? "",
      };
      const shell = await shellRow(sql, { tenant, agentId: id, createdBy, callId: program.callId }, "here");
      expect(await askInBackground(services, program, { host: "d.example", port: 443 })).toBe("asked");
      await withoutShell(sql, shell);
      rows.view = await read();
      expect(rows.view.openHosts).toMatchObject([{ host: "d.example" }]);
    },
    /** People answer all that is asked about hosts, and by tools, or nobody does. */
    answer: async (to: PersonsAnswer): Promise<void> => {
      const at = new Date();
      const ofTools = inputsOf(rows.view);
      for (const id of answerable(rows.view)) {
        const told = ofTools.includes(id) ? {} : await answerTold(sql, id, { state: to, note: null }, at);
        const part = { agentId, createdBy: rows.view.createdBy, events: [] };
        const transition = { id, from: "PENDING", to, closedAt: at } as const;
        const { outcome } = await log.commit(rows.view.tenant, part, { approvalTransitions: [transition], ...told });
        expect(outcome).toBe("COMMITTED");
      }
      const now = await read();
      const { notices } = now;
      expect(now).toEqual({ ...normal(withAnswers(rows.view, to)), notices });
      rows.view = now;
    },
  };
  return rows;
}

/** State and breakpoint after the events, each of which must begin where the one before it ended. */
function follow(events: readonly AgentEventBody[], { state, breakpoint }: AgentView): object {
  let now: Pick<AgentView, "state" | "breakpoint"> = { state, breakpoint };
  for (const body of events) {
    if (body.kind === "STATE_CHANGED") {
      expect(body.previousState).toBe(now.state);
      now = { state: body.state, breakpoint: now.breakpoint };
    }
    if (body.kind === "BREAKPOINT_CHANGED") {
      expect(body.previousBreakpoint).toBe(now.breakpoint);
      now = { state: now.state, breakpoint: body.breakpoint };
    }
  }
  return now;
}

/** The view with its times in one form, and without what signals of others change. */
function normal(view: AgentView): AgentView {
  const iso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());
  return {
    ...view,
    calls: view.calls.map((call) => ({ ...call, startedAt: iso(call.startedAt), completedAt: iso(call.completedAt) })),
  };
}
