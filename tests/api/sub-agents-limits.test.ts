import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { hasNoBox } from "../support/box.ts";
import { connect, type TestClient } from "../support/client.ts";

import { ACTORS, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, treeOf, until, worker } from "../support/team.ts";
import { ownProgram, ownTool } from "../support/tools.ts";

/** The calls of the children of an agent. */
async function callsBelow(client: TestClient, id: string) {
  const { children } = await treeOf(client, id);
  const agents = await Promise.all(children.map((child) => client.agent(child.id)));
  return agents.flatMap(({ toolCalls }) => toolCalls.nodes);
}

describe("children", () => {
  it("count in the limits of their tenant: their calls share its places", async () => {
    const ended = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const hold = ownTool("hold", async () => {
      begun.resolve();
      await ended.promise;
      return { output: "held", details: null };
    });
    const model = teamModel({
      lead: [first(task())],
      // The child calls its tool when another agent of the tenant holds the only place.
      worker: [
        async function* (request) {
          await begun.promise;
          yield* first(["hold", {}])(request);
        },
      ],
      other: [first(["hold", {}])],
    });
    const templates = { assistant: lead, worker, other: { ...worker, systemPrompt: "other" } } as Record<string, TemplateConfig>;
    const workspace = await temporaryFolder();
    const acme = { toolLimits: { running: 1, waitMs: 50 } };
    const app = await startTestApp({
      model,
      config: {
        ...ACTORS,
        templates,
        tools: [hold],
        tenants: { acme },
        workspaceRoots: [workspace],
        defaultWorkspace: workspace,
      },
    });
    const client = connect(app.url, PEOPLE.anna.token);
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await until(client, id, ({ children }) => children.length === 1);
    const other = await client.createAgent({ templateId: "other" });
    await client.send(other.id, "go");
    await client.until(id, "DONE");
    expect(await callsBelow(client, id)).toMatchObject([{ name: "hold", state: "FAILED", error: { type: "TOOL_BUSY" } }]);
    ended.resolve();
    await client.until(other.id, "DONE");
  });

  it.skipIf(hasNoBox)("of a boxed agent run their programs in boxes, at each depth, whatever their templates say", async () => {
    const secret = join(await temporaryFolder(), "secret.txt");
    await writeFile(secret, "A secret.");
    const peek = ownProgram("peek", "cat", [secret]);
    const model = teamModel({
      lead: [first(task({ agentTemplateId: "middle" }), ["peek", {}])],
      middle: [first(task(), ["peek", {}])],
      worker: [first(["peek", {}])],
    });
    const below = { ...worker, sandbox: "none" } as const;
    const subagents = { templates: ["middle", "worker"], depth: 2 };
    const run = async (sandbox: "required" | "none") => {
      const templates = {
        assistant: { ...lead, sandbox, subagents },
        middle: { ...below, systemPrompt: "middle", subagents },
        worker: below,
      } as Record<string, TemplateConfig>;
      const app = await startTestApp({ model, config: { templates, tools: [peek] } });
      const client = connect(app.url);
      const { id } = await client.createAgent();
      await client.turn(id, "go");
      const tree = await until(client, id, ({ children }) => children.length === 1);
      const middle = tree.children[0]?.id ?? "";
      const all = [
        ...(await client.agent(id)).toolCalls.nodes,
        ...(await callsBelow(client, id)),
        ...(await callsBelow(client, middle)),
      ];
      return all.filter(({ name }) => name === "peek").map(({ output }) => output);
    };
    expect(await run("none")).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("A secret.")));
    expect(await run("required")).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("No such file")));
  });
});
