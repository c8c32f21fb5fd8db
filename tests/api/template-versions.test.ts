import { describe, expect, it } from "vitest";
import { ForkAgentDocument } from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { ofType, type TestClient } from "../support/client.ts";
import { says } from "../support/models.ts";
import { place, versionOf, type Version } from "../support/template-versions.ts";
import { toolWithPrompt } from "../support/tools.ts";

async function changesOf(client: TestClient, id: string) {
  return ofType(await client.events(id), "TemplateChanged").map(({ channel, from, to }) => [channel, from.version, to.version]);
}

describe("the version of an agent's template", () => {
  it("is null before its first turn, and then that of the template, without an event", async () => {
    const { start } = await place();
    const { client } = await start({ version: "one" });
    const { id } = await client.createAgent();
    expect(await versionOf(client, id)).toBeNull();
    await client.turn(id, "go");
    const { data } = await client.post<{ templates: Version[] }>({ query: "{ templates { digest version } }" });
    expect(await versionOf(client, id)).toEqual(data?.templates[0]);
    expect(await versionOf(client, id)).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{64}$/), version: "one" });
    expect(await changesOf(client, id)).toEqual([]);
  });

  it("is taken by the next turn, with TEMPLATE_CHANGED on monitor, once", async () => {
    const { start, systems } = await place();
    const first = await start({ version: "one", systemPrompt: "First." });
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    const before = await versionOf(first.client, id);
    await first.app.close();
    const { client } = await start({ version: "two", systemPrompt: "Second." });
    expect(await versionOf(client, id)).toEqual(before);
    const { cursor } = await client.agent(id);
    await client.send(id, "go on");
    const kinds = (await client.until(id, "DONE", cursor)).map(({ kind }) => kind);
    expect(kinds.indexOf("TEMPLATE_CHANGED")).toBeLessThan(kinds.indexOf("STATE_CHANGED"));
    await client.turn(id, "and on");
    expect(await changesOf(client, id)).toEqual([["MONITOR", "one", "two"]]);
    expect(systems()).toEqual(["First.", "Second.", "Second."]);
    expect(await versionOf(client, id)).not.toEqual(before);
  });

  it.each<[string, Partial<TemplateConfig>, boolean]>([
    ["a prompt", { systemPrompt: "Other." }, true],
    ["a limit", { maxSteps: 3 }, true],
    ["a permission", { permission: { deny: ["fs_write"] } }, true],
    ["a list of tools", { tools: ["fs_read"] }, true],
    ["the name of its version", { version: "two" }, true],
    ["a hook", { hooks: { preToolUse: () => undefined } }, false],
    ["a name, a description or metadata", { name: "N", description: "d", metadata: { a: 1 } }, false],
    ["the order of its settings", { permission: { mode: "auto", allow: ["fs_read"] } }, false],
  ])("follows from its data: %s", async (_name, change, isOther) => {
    const { start } = await place();
    const base: Partial<TemplateConfig> =
      "permission" in change && !isOther ? { permission: { allow: ["fs_read"], mode: "auto" } } : {};
    const first = await start(base);
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    await first.app.close();
    const { client } = await start(change);
    await client.turn(id, "go on");
    expect(await changesOf(client, id)).toHaveLength(isOther ? 1 : 0);
  });

  it("is that of the original in a fork", async () => {
    const { start } = await place();
    const first = await start({ version: "one" });
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    await first.app.close();
    const { client } = await start({ version: "two" });
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
    const fork = forkAgent.agent?.id ?? "";
    expect(await versionOf(client, fork)).toMatchObject({ version: "one" });
    await client.turn(fork, "and you?");
    expect(await changesOf(client, fork)).toEqual([["MONITOR", "one", "two"]]);
    expect(await changesOf(client, id)).toEqual([]);
  });

  it("changes once when owners die before the first answer with it", async () => {
    const ended: Promise<never> = new Promise(() => {});
    async function* hangs(): AsyncGenerator<never> {
      yield await ended;
    }
    let calls = 0;
    const { start } = await place(() => ((calls += 1) === 2 ? hangs() : says("Done.")));
    const first = await start({ version: "one" }, { tools: [toolWithPrompt("a_tool", "Use a.")] });
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    await first.app.close();
    const overrides = { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } };
    const { app, client } = await start({ version: "two" }, { overrides, tools: [toolWithPrompt("a_tool", "Use b.")] });
    const { cursor } = await client.agent(id);
    await client.send(id, "go on");
    await expect.poll(() => calls).toBe(2);
    const died =
      "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
    await app.database.sql.query({ name: "steal", text: died }, []);
    await client.until(id, "DONE", cursor);
    expect(await changesOf(client, id)).toEqual([["MONITOR", "one", "two"]]);
    expect(ofType(await client.events(id), "ToolManualUpdated")).toEqual([]);
  });
});

describe("the manual of tools", () => {
  const manual = (text: string): string => `You are tested.\n\n### Tools Manual\n\n#### a_tool\n\n${text}`;

  it("is given anew by the first step of another version, and changes of a version are told", async () => {
    const { start, systems } = await place();
    const versions = [
      ["one", "Use one."],
      ["one", "Use two."],
      ["two", "Use three."],
      ["two", "Use four."],
    ] as const;
    let id: string | null = null;
    const told: number[] = [];
    for (const [version, text] of versions) {
      const { app, client } = await start({ version }, { tools: [toolWithPrompt("a_tool", text)] });
      id ??= (await client.createAgent()).id;
      await client.turn(id, "go");
      await client.turn(id, "go on");
      told.push(ofType(await client.events(id), "ToolManualUpdated").length);
      await app.close();
    }
    const [one, three] = [manual("Use one."), manual("Use three.")];
    expect(systems()).toEqual([one, one, one, one, three, three, three, three]);
    expect(told).toEqual([0, 1, 1, 2]);
  });

  it("ends with a version whose tools have no sections, and comes with one that has them", async () => {
    const { start, systems } = await place();
    let id: string | null = null;
    for (const tools of [[toolWithPrompt("a_tool", "Use a.")], [], [toolWithPrompt("a_tool", "Use a.")]]) {
      const { app, client } = await start({ version: String(systems().length) }, { tools });
      id ??= (await client.createAgent()).id;
      await client.turn(id, "go");
      expect(ofType(await client.events(id), "ToolManualUpdated")).toEqual([]);
      await app.close();
    }
    expect(systems()).toEqual([manual("Use a."), "You are tested.", manual("Use a.")]);
  });
});
