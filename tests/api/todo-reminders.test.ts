import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { ForkAgentDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { calls, callsWith, playedModel, says } from "../support/models.ts";

type Player = (request: ModelRequest) => AsyncIterable<ModelEvent>;
type Item = { readonly id: string; readonly title: string; readonly status: "pending" | "in_progress" | "completed" };

const item = (id: string, status: Item["status"] = "pending"): Item => ({ id, title: `do ${id}`, status });
const writes =
  (...todos: readonly Item[]): Player =>
  () =>
    callsWith(["todo_write", { todos }]);
const reads: Player = () => calls("todo_read");
const ends: Player = () => says("Done.");

const EMPTY = "[Your todo list is empty. If work is left, write it down with todo_write.]";
const open = (...lines: readonly string[]): string =>
  `[Your todo list has ${lines.length} open ${lines.length === 1 ? "todo" : "todos"}:\n${lines.join("\n")}\nContinue with them, or bring the list up to date with todo_write.]`;

/** The reminders in a request, in the order of its messages. */
function notesOf({ messages }: ModelRequest): readonly string[] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block) => (block.type === "text" && block.text.startsWith("[Your todo list") ? [block.text] : []));
}

/** An agent whose model does these things, a step each, and the number of reminders that each step has read. */
async function agentWith(players: readonly Player[], template: Partial<TemplateConfig> = {}, options: TestAppOptions = {}) {
  const model = playedModel(...players);
  const app = await startTestApp({ model, ...options, template: { permission: { mode: "auto" }, ...template } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const notes = () => model.calls.map(({ request }) => notesOf(request));
  return { app, client, id, notes, counts: () => notes().map(({ length }) => length) };
}

async function reminders(client: TestClient, id: string) {
  return ofType(await client.events(id), "TodoReminder").map(({ todoReason, todos }) => [
    todoReason,
    todos.map(({ todoId }) => todoId),
  ]);
}

describe("a list that was emptied", () => {
  it("is told once, by the step that follows, with TODO_REMINDER on monitor", async () => {
    const { client, id, notes } = await agentWith([writes(item("a")), writes(), writes(), ends, ends]);
    await client.turn(id, "go");
    await client.turn(id, "go on");
    expect(notes()).toEqual([[], [], [EMPTY], [EMPTY], [EMPTY]]);
    expect(ofType(await client.events(id), "TodoReminder")).toMatchObject([
      { channel: "MONITOR", todoReason: "EMPTIED", todos: [] },
    ]);
  });

  it("is not told if it was never filled, if it is filled again before the step, or if the template does not want it", async () => {
    const refills: Player = () => callsWith(["todo_write", { todos: [] }], ["todo_write", { todos: [item("b")] }]);
    const first = await agentWith([writes(), writes(item("a")), refills, ends]);
    await first.client.turn(first.id, "go");
    expect(first.counts()).toEqual([0, 0, 0, 0]);
    const second = await agentWith([writes(item("a")), writes(), ends], { todo: { remindWhenEmptied: false } });
    await second.client.turn(second.id, "go");
    expect(second.counts()).toEqual([0, 0, 0]);
    expect(await reminders(second.client, second.id)).toEqual([]);
  });

  it("is told once when owners die before the model answers", async () => {
    const ended: Promise<never> = new Promise(() => {});
    async function* hangs(): AsyncGenerator<never> {
      yield await ended;
    }
    const { app, client, id, counts } = await agentWith(
      [writes(item("a")), writes(), hangs, ends],
      {},
      { overrides: { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } } },
    );
    await client.send(id, "go");
    await expect.poll(() => counts().length).toBe(3);
    const died =
      "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
    await app.database.sql.query({ name: "steal", text: died }, []);
    await client.until(id, "DONE");
    expect(counts()).toEqual([0, 0, 1, 1]);
    expect(await reminders(client, id)).toEqual([["EMPTIED", []]]);
  });
});

describe("reminderOnStart", () => {
  it("reminds once at the start of each turn with open todos", async () => {
    const { client, id, notes } = await agentWith(
      [
        writes(item("a", "completed"), item("b", "in_progress"), item("c")),
        ends,
        reads,
        ends,
        writes(item("a", "completed")),
        ends,
        ends,
      ],
      { todo: { reminderOnStart: true } },
    );
    for (const text of ["go", "go on", "and on", "the end"]) await client.turn(id, text);
    const told = open("[~] b: do b", "[ ] c: do c");
    expect(notes()).toEqual([[], [], [told], [told], [told, told], [told, told], [told, told]]);
    expect(await reminders(client, id)).toEqual([
      ["STARTUP", ["b", "c"]],
      ["STARTUP", ["b", "c"]],
    ]);
  });

  it("is off by default, and for an agent without the tool that writes the list", async () => {
    const off = await agentWith([writes(item("a")), ends, ends]);
    for (const text of ["go", "go on"]) await off.client.turn(off.id, text);
    expect(off.counts()).toEqual([0, 0, 0]);
    const without = await agentWith([ends], { tools: ["todo_read"], todo: { reminderOnStart: true, remindIntervalSteps: 1 } });
    const { sql } = without.app.database;
    const text =
      "INSERT INTO todo (agent_id, id, tenant, place, title, status) SELECT id, 'a', tenant, 0, 'do a', 'pending' FROM agent";
    await sql.query({ name: "give_todo", text }, []);
    await without.client.turn(without.id, "go");
    expect(without.counts()).toEqual([0]);
  });

  it("names twenty todos at most, and the number of the others", async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ ...item(`t${index}`), title: "x".repeat(500) }));
    const { client, id, notes } = await agentWith([writes(...many), ends, ends], { todo: { reminderOnStart: true } });
    for (const text of ["go", "go on"]) await client.turn(id, text);
    const [told = ""] = notes().at(-1) ?? [];
    expect(told).toContain("and 10 more: todo_read has all");
    expect(told.length).toBeLessThan(5_000);
    expect((await reminders(client, id))[0]?.[1]).toHaveLength(30);
  });
});

describe("remindIntervalSteps", () => {
  it("reminds after so many steps without a change of the list, also over turns, and not right after a change", async () => {
    const { client, id, counts } = await agentWith(
      [
        writes(item("a")),
        reads,
        reads,
        ends,
        reads,
        writes(item("b")),
        reads,
        reads,
        ends,
        writes(item("b", "completed")),
        ends,
        ends,
      ],
      { todo: { remindIntervalSteps: 3 } },
    );
    for (const text of ["go", "go on", "and on", "the end"]) await client.turn(id, text);
    //               1  2  3  4  5  6  7  8  9  10
    expect(counts()).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(await reminders(client, id)).toEqual([
      ["INTERVAL", ["a"]],
      ["INTERVAL", ["b"]],
    ]);
  });

  it("counts from any reminder, and reminds once if two are due", async () => {
    const { client, id, counts } = await agentWith([writes(item("a")), ends, reads, reads, ends], {
      todo: { reminderOnStart: true, remindIntervalSteps: 2 },
    });
    for (const text of ["go", "go on"]) await client.turn(id, text);
    expect(counts()).toEqual([0, 0, 1, 1, 2]);
    expect((await reminders(client, id)).map(([reason]) => reason)).toEqual(["STARTUP", "INTERVAL"]);
  });

  it("goes on in a fork from where its original was", async () => {
    const { client, id, counts } = await agentWith([writes(item("a")), reads, ends, ends], { todo: { remindIntervalSteps: 3 } });
    await client.turn(id, "go");
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
    await client.turn(forkAgent.agent?.id ?? "", "and you?");
    expect(counts()).toEqual([0, 0, 0, 1]);
  });
});

describe("an interval", () => {
  it.each([null, Number.MAX_SAFE_INTEGER])("of %s steps never comes", async (remindIntervalSteps) => {
    const { client, id, counts } = await agentWith([writes(item("a")), ends], { todo: { remindIntervalSteps } });
    await client.turn(id, "go");
    expect(counts()).toEqual([0, 0]);
  });
});

describe("subagents.overrides.todo", () => {
  it("holds for the agents that the template's agents start, setting by setting", async () => {
    const delegates: Player = () => callsWith(["task_run", { description: "d", prompt: "p", agentTemplateId: "worker" }]);
    const template = (systemPrompt: string): TemplateConfig => ({ systemPrompt, model: "test", permission: { mode: "auto" } });
    const overrides = { todo: { remindWhenEmptied: false } };
    const templates = {
      assistant: { ...template("lead"), subagents: { templates: ["worker"], overrides } },
      worker: { ...template("worker"), todo: { remindIntervalSteps: 1 } },
    };
    const players = [delegates, writes(item("a")), writes(), ends, ends];
    const child = await agentWith(players, {}, { config: { templates } });
    await child.client.turn(child.id, "go");
    expect(child.counts()).toEqual([0, 0, 1, 1, 0]);
    const { client, app, notes } = await agentWith([writes(item("a")), writes(), ends], {}, { config: { templates } });
    expect(app.port).toBeGreaterThan(0);
    const { id } = await client.createAgent({ templateId: "worker" });
    await client.turn(id, "go");
    expect(notes().at(-1)).toEqual([open("[ ] a: do a"), EMPTY]);
  });
});
