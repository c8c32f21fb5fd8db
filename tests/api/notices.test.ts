import { describe, expect, it } from "vitest";
import { commitEnd } from "../../src/agent/calls/shells/ended.ts";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { Sql } from "../../src/db/sql.ts";
import { EventLog } from "../../src/events/log.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { ForkAgentDocument, NoticesDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { agentOf, tell } from "../support/notices.ts";
import { shellRow } from "../support/shell-row.ts";
import { beforeCommit } from "../support/writes.ts";

const ROWS = { name: "rows_of_notices", text: "SELECT agent_id, ref, text, told_at_step FROM notice ORDER BY id" };

/** A server whose model does these things, a step each, and the notes of the server that each step was given. */
async function serverWith(
  steps: readonly ((request: ModelRequest) => AsyncIterable<ModelEvent>)[],
  options: TestAppOptions = {},
) {
  const notes: (readonly string[])[] = [];
  const model = playedModel(
    ...steps.map((step) => (request: ModelRequest) => {
      notes.push(notesOf(request));
      return step(request);
    }),
  );
  const app = await startTestApp({ model, ...options, template: { permission: { mode: "auto" } } });
  return { app, sql: app.database.sql, client: connect(app.url), notes };
}

function notesOf({ messages }: ModelRequest): readonly string[] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block) => (block.type === "text" && block.text.startsWith("[") ? [block.text] : []));
}

describe("what the next step tells the model", () => {
  it("is one message, a text for each source in their order, and is told once", async () => {
    const { client, sql, notes } = await serverWith([() => says("One."), () => says("Two."), () => says("Three.")]);
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    await tell(sql, id, ["HOST", "one", "[Refused.]"], ["SHELL", "one", "It has ended."]);
    await tell(sql, id, ["SHELL", "two", "And two."]);
    // Nothing starts by it, and nobody waits for it.
    expect(await client.agent(id)).toMatchObject({ state: "READY" });
    await client.turn(id, "go on");
    await client.turn(id, "and on");
    const told = ["[It has ended.\nAnd two.]", "[Programs in the background tried to reach hosts.]\n[Refused.]"];
    expect(notes).toEqual([[], told, told]);
    const { messages } = await client.agent(id);
    expect(messages.nodes.filter(({ text }) => text?.includes("has ended") === true)).toHaveLength(1);
    expect(await sql.query(ROWS, [])).toMatchObject([{ told_at_step: 2 }, { told_at_step: 2 }, { told_at_step: 2 }]);
  });

  it("is listed newest first, with the step that told it, in pages", async () => {
    const { client, sql } = await serverWith([() => says("One.")]);
    const { id } = await client.createAgent();
    await tell(sql, id, ["SHELL", "one", "It has ended."]);
    await client.turn(id, "go");
    await tell(sql, id, ["HOST", "two", "[Refused.]"]);
    const read = async (after: string | null) =>
      (await client.get(NoticesDocument, { id, first: 1, after })).agent?.notices ?? { nodes: [], pageInfo: { endCursor: null } };
    const first = await read(null);
    expect(first).toMatchObject({
      nodes: [{ source: "HOST", about: "two", text: "[Refused.]", toldAtStep: null }],
      totalCount: 2,
      pageInfo: { hasNextPage: true },
    });
    expect(await read(first.pageInfo.endCursor ?? null)).toMatchObject({
      nodes: [{ source: "SHELL", about: "one", text: "It has ended.", toldAtStep: 1 }],
      pageInfo: { hasNextPage: false },
    });
  });

  it("is the newest of each thing", async () => {
    const { client, sql, notes } = await serverWith([() => says("One.")]);
    const { id } = await client.createAgent();
    await tell(sql, id, ["SHELL", "one", "It has begun."]);
    await tell(sql, id, ["SHELL", "one", "It has ended."]);
    await client.turn(id, "go");
    expect(notes).toEqual([["[It has ended.]"]]);
    expect(await sql.query(ROWS, [])).toMatchObject([{ text: "It has ended.", told_at_step: 1 }]);
  });

  it("is told by the step after, if it is replaced while a step begins that read the older one", async () => {
    let late: (sql: Sql) => Promise<void> = async () => {};
    const { client, sql, notes } = await serverWith([() => says("One."), () => says("Two.")], {
      overrides: {
        sql: (given, purpose) =>
          purpose === "commits"
            ? beforeCommit(
                given,
                (change) => "noticesTold" in change,
                async () => late(given),
              )
            : given,
      },
    });
    const { id } = await client.createAgent();
    await tell(sql, id, ["SHELL", "one", "It has begun."]);
    late = async (given) => tell(given, id, ["SHELL", "one", "It has ended."]);
    await client.turn(id, "go");
    await client.turn(id, "go on");
    expect(notes).toEqual([["[It has begun.]"], ["[It has begun.]", "[It has ended.]"]]);
  });

  it("is told once when owners die: before the model was told, and after", async () => {
    const ended: Promise<never> = new Promise(() => {});
    async function* hangs(): AsyncGenerator<never> {
      yield await ended;
    }
    const { app, client, sql, notes } = await serverWith([() => calls("todo_read"), hangs, hangs, () => says("Done.")], {
      overrides: { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } },
    });
    const die = async (): Promise<void> => {
      const died =
        "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
      await sql.query({ name: "steal", text: died }, []);
    };
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await expect.poll(() => notes.length).toBe(2);
    // A shell of the call ends, and the owner dies before its next step.
    const [call] = (await client.agent(id)).toolCalls.nodes;
    const { serverId } = app.services;
    const { tenant, createdBy } = await agentOf(sql, id);
    const started = { tenant, agentId: rowId("Agent", id), createdBy, callId: call?.callId ?? "" };
    const shell = await shellRow(sql, started, serverId);
    const end = { endReason: "EXITED", exitCode: 3, signal: null } as const;
    expect(await commitEnd({ log: new EventLog(sql), sql }, shell, end, serverId, new Date())).toBe(true);
    await die();
    await expect.poll(() => notes.length, { timeout: 20_000 }).toBe(3);
    await die();
    await client.until(id, "DONE");
    const told = `[The background shell ${shell.id} (sleep 300) has ended: exit code 3. bash_logs has what it said, if it said anything.]`;
    expect(notes).toEqual([[], [], [told], [told]]);
  });
});

describe("a fork", () => {
  const fork = async (client: ReturnType<typeof connect>, agentId: string, messageId?: string): Promise<string> => {
    const { forkAgent } = await client.get(ForkAgentDocument, {
      input: { agentId, ...(messageId === undefined ? {} : { messageId }) },
    });
    expect(forkAgent.userErrors).toEqual([]);
    return forkAgent.agent?.id ?? "";
  };

  it("from the last message is told what its original will be told, but for files, and each is told once", async () => {
    const { client, sql, notes } = await serverWith(Array.from({ length: 4 }, () => () => says("Done.")));
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    await tell(sql, id, ["SHELL", "one", "It has ended."], ["FILE", "a.txt", "a.txt"]);
    await tell(sql, id, ["SHELL", "two", "And two."]);
    const forked = await fork(client, id);
    for (const agent of [forked, id]) await client.turn(agent, "go on");
    await client.turn(forked, "and on");
    const ended = "[It has ended.\nAnd two.]";
    expect(notes).toEqual([[], [ended], [ended, expect.stringContaining("a.txt")], [ended]]);
    const rows = await sql.query<{ agent_id: string; ref: string; told_at_step: number }, []>(ROWS, []);
    const copies = rows.filter((row) => row.agent_id === rowId("Agent", forked));
    expect(copies.map((row) => [row.ref, row.told_at_step])).toEqual([
      ["one", 2],
      ["two", 2],
    ]);
  });

  it("from an earlier message is not told what came later", async () => {
    const { client, sql, notes } = await serverWith(Array.from({ length: 3 }, () => () => says("Done.")));
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    const last = (await client.agent(id)).messages.nodes.at(-1)?.id;
    await client.turn(id, "go on");
    await tell(sql, id, ["SHELL", "one", "It has ended."]);
    await client.turn(await fork(client, id, last), "and you?");
    expect(notes).toEqual([[], [], []]);
  });
});
