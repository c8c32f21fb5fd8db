import { expect, it } from "vitest";
import { readView, type AgentView } from "../../../src/agent/loop/view.ts";
import type { Loop } from "../../../src/agent/loop/loop.ts";
import { NO_TOKENS, type ModelEvent } from "../../../src/agent/models/model.ts";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { ownTool } from "../../support/tools.ts";

it("an owner knows what its agent's rows say after all that it commits, without reading them again", async () => {
  const { sql } = await testDatabase();
  let looks = 0;
  const counted: Sql = {
    ...sql,
    query: (statement, values) => {
      if (statement.name === "read_agent_view") looks += 1;
      return sql.query(statement, values);
    },
  };
  let loop: Loop | null = null;
  const compared: { where: string; isRemembered: boolean; remembered: AgentView; rows: AgentView }[] = [];
  /** What the owner remembers, beside what the rows say. */
  const compare = async (where: string): Promise<void> => {
    if (loop === null) throw new Error("nobody holds the agent");
    const { owner } = loop;
    await owner.flush();
    await owner.settled();
    const before = looks;
    const remembered = await owner.view();
    compared.push({
      where,
      isRemembered: looks === before,
      remembered: withTimes(remembered),
      rows: withTimes(await readView(sql, agent.agentId)),
    });
  };

  const release = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<void>();
  const tools = [
    ownTool("quick", async () => {
      await compare("while calls run together");
      looked.resolve();
      return { output: "quick \0 and \ud800", details: null };
    }),
    // Ends when the two calls that run beside it have: its answer finds them final.
    ownTool("slow", async () => {
      await release.promise;
      await compare("after other calls ended");
      return { output: "slow", details: { some: "details" } };
    }),
    // Ends when its neighbour has looked: an end that came between the two reads would be in one of them.
    ownTool("fails", async () => {
      await looked.promise;
      throw new Error("it failed \0");
    }),
    defineTool<{ text: string }>({
      name: "writes",
      description: "Writes.",
      readOnly: false,
      inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
      run: async (_input, { todos }) => {
        await todos.write([{ id: "1", title: "one", status: "pending", assignee: null, notes: null }]);
        await compare("while an exclusive call runs");
        return { output: "written", details: null };
      },
    }),
  ];
  const model = playedModel(
    () =>
      answers("first step", [
        ["slow", "{}"],
        ["quick", "{}"],
        ["fails", "{}"],
        ["writes", '{"text":"lone \\ud800"}'],
        ["writes", "{ not JSON"],
        ["nowhere", "{}"],
      ]),
    // A message that arrives is signalled to the owner, which reads its rows then.
    async function* () {
      await compare("at the second step");
      await agent.send("meanwhile");
      loop?.signalled();
      yield* answers("second step", [["quick", "{}"]]);
    },
    async function* () {
      await compare("at the third step");
      yield* says("Done.");
    },
    async function* () {
      await compare("in the next turn");
      yield* answers("next turn", [["quick", "{}"]]);
    },
    () => says("Done again."),
  );
  const services = testServices(counted, model, tools, { permission: permissionOf({ mode: "auto" }) });
  const ended = new Set<string>();
  services.log.onCommitted((_tenant, events) => {
    for (const { body } of events) if (body.kind === "TOOL_END") ended.add(body.call.name);
    if (ended.has("quick") && ended.has("fails")) release.resolve();
  });
  const agent = await heldAgent(services);
  for (const text of ["first", "second"]) {
    await agent.send(text);
    loop = await agent.hold();
    looks = 0;
    expect(await loop.run()).toBe("parked");
    expect(looks).toBeLessThanOrEqual(text === "first" ? 3 : 1);
  }
  for (const { where, remembered, rows } of compared) expect(remembered, where).toEqual(rows);
  expect(new Set(compared.flatMap(({ where, isRemembered }) => (isRemembered ? [where] : [])))).toEqual(
    new Set([
      "while calls run together",
      "after other calls ended",
      "while an exclusive call runs",
      "at the second step",
      "at the third step",
      "in the next turn",
    ]),
  );
  const last = await readView(sql, agent.agentId);
  expect(last).toMatchObject({ state: "READY", turn: 2, stepCount: 5 });

  async function* answers(text: string, asked: readonly (readonly [string, string])[]): AsyncGenerator<ModelEvent> {
    yield { type: "text_start", block: 0 };
    yield { type: "text_delta", block: 0, text };
    for (const [index, [name, args]] of asked.entries())
      yield { type: "tool_use", block: index + 1, id: `${text}-${index}`, name, arguments: args };
    yield { type: "end", stopReason: "tool_use", usage: NO_TOKENS };
  }
});

/** The look with its times in one form. */
function withTimes(seen: AgentView): AgentView {
  const iso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());
  return {
    ...seen,
    calls: seen.calls.map((call) => ({ ...call, startedAt: iso(call.startedAt), completedAt: iso(call.completedAt) })),
  };
}
