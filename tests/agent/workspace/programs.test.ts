import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { ToolContext } from "../../../src/agent/tools/tool-context.ts";
import { isAlive } from "../../support/alive.ts";
import { startTestApp, temporaryFolder } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { startServerProcess } from "../../support/server-process.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { ownTool } from "../../support/tools.ts";

/** Says the id of a process that it leaves behind, and its own, and goes on. */
const TWO = "sleep 300 & echo $! $$; sleep 300";

/** What the program says first, as numbers. */
async function numbers(starting: ReturnType<ToolContext["start"]>): Promise<number[]> {
  const { stdout } = await starting;
  const [chunk] = (await once(stdout, "data")) as [Buffer];
  return chunk.toString().trim().split(" ").map(Number);
}

describe("programs that tools start", () => {
  it("start in a folder of the workspace if one is named, and in no other", async () => {
    const said: string[] = [];
    const tool = ownTool("where", async (_input, { start }) => {
      for (const folder of ["docs", "..", "/etc"]) {
        try {
          for await (const chunk of (await start("/bin/pwd", [], { folder })).stdout) said.push(String(chunk).trim());
        } catch (error) {
          said.push(error instanceof Error ? error.name : "");
        }
      }
      return { output: "done", details: null };
    });
    const app = await startTestApp({
      model: playedModel(
        () => calls("where"),
        () => says("done"),
      ),
      config: { tools: [tool] },
      template: { permission: { mode: "auto" } },
    });
    await mkdir(join(app.workspace, "docs"));
    const client = connect(app.url);
    await client.turn((await client.createAgent()).id, "go");
    expect(said).toEqual([join(app.workspace, "docs"), "PathRefused", "PathRefused"]);
  });

  it("run in the workspace without the server's secrets, and die with their call, as a group, however it ends", async () => {
    const groups: number[][] = [];
    const said: string[] = [];
    const tools = [
      ownTool("returns", async (_input, { start }) => {
        const env = await start("/usr/bin/env", []);
        for await (const chunk of env.stdout) said.push(String(chunk));
        groups.push(await numbers(start("sh", ["-c", TWO])));
        return { output: "done", details: null };
      }),
      ownTool("throws", async (_input, { start }) => {
        groups.push(await numbers(start("sh", ["-c", TWO])));
        throw new Error("failed");
      }),
      {
        ...ownTool("hangs", async (_input, { start }) => {
          groups.push(await numbers(start("sh", ["-c", TWO])));
          return new Promise<never>(() => {});
        }),
        timeoutMs: 1_000,
      },
    ];
    const model = playedModel(
      () => calls("returns", "throws", "hangs"),
      () => says("Over."),
    );
    vi.stubEnv("TEST_API_KEY", "secret");
    const app = await startTestApp({ model, config: { tools } });
    const client = connect(app.url);
    const agent = await client.createAgent({ workspace: app.workspace });
    const events = await client.turn(agent.id, "go");
    expect(
      ofType(events, "ToolEnd")
        .map(({ call }) => `${call.name} ${call.state}`)
        .toSorted(),
    ).toEqual(["hangs FAILED", "returns COMPLETED", "throws FAILED"]);
    expect(groups.flat()).toHaveLength(6);
    await expect.poll(() => groups.flat().filter(isAlive)).toEqual([]);
    expect(said.join("")).toContain(`PWD=${app.workspace}`);
    expect(said.join("")).not.toContain("secret");
    expect(app.services.groups.size).toBe(0);
  });

  it("that do not exist exit with 127", async () => {
    const tool = ownTool("starts", async (_input, { start }) => {
      const [code] = (await once(await start("/no/such/program", []), "exit")) as [number];
      return { output: String(code), details: null };
    });
    const model = playedModel(
      () => calls("starts"),
      () => says("Over."),
    );
    const app = await startTestApp({ model, config: { tools: [tool] } });
    const client = connect(app.url);
    const events = await client.turn((await client.createAgent()).id, "go");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { output: "127" } }]);
  });

  it("die with a server that is killed, and what it was about to start never runs", async () => {
    const folder = await temporaryFolder();
    const config = join(folder, "triplane.config.ts");
    await mkdir(join(folder, "workspace"));
    await writeFile(
      config,
      `import { defineConfig, defineTool } from "triplane";
      export default defineConfig({
        models: { m: { provider: "scripted", script: { replies: [{ when: {}, call: [{ tool: "runs", input: {} }] }] } } },
        templates: { assistant: { model: "m", systemPrompt: "x", permission: { mode: "auto" } } },
        tools: [defineTool({ name: "runs", description: "x", readOnly: false, inputSchema: { type: "object", required: [], properties: {} },
          run: async (_input, { start, emit }) => {
            const child = await start("sh", ["-c", ${JSON.stringify(TWO)}]);
            child.stdout.on("data", (chunk) => emit("pids", String(chunk)));
            return new Promise(() => {});
          } })],
      });`,
    );
    const server = await startServerProcess({
      DATABASE_URL: await testDatabaseUrl(),
      TRIPLANE_DATA_DIR: join(folder, "data"),
      TRIPLANE_CONFIG: config,
    });
    const client = connect(server.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "TOOL_CUSTOM_EVENT");
    const pids = String(ofType(events, "ToolCustomEvent")[0]?.eventData).trim().split(" ").map(Number);
    expect(pids.filter(isAlive)).toHaveLength(2);
    server.child.kill("SIGKILL");
    await server.exited;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});
