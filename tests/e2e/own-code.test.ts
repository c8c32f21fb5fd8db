import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { startServerProcess } from "../support/server-process.ts";

/** A tool, a hook, a mode and a listener, each of which forgets something that fails. */
const CONFIG = `
import { defineConfig, defineTool, Type } from "triplane";
const forget = (what) => void Promise.reject(new Error("forgotten by the " + what));
const tool = defineTool({
  name: "forgetful", description: "x", readOnly: false, inputSchema: Type.Object({}),
  run: () => { forget("tool"); setTimeout(() => { throw new Error("thrown in a timer"); }, 1); return { output: "y", details: null }; },
});
export default defineConfig({
  models: { m: { provider: "scripted", script: { replies: [
    { when: { result: "forgetful" }, say: ["done"] },
    { when: {}, call: [{ tool: "forgetful", input: {} }] },
  ] } } },
  tools: [tool],
  permissionModes: { lax: () => { forget("mode"); return "allow"; } },
  hooks: { preToolUse: [() => { forget("hook"); }] },
  on: { TOOL_END: () => { forget("listener"); } },
  templates: { assistant: { model: "m", systemPrompt: "x", permission: { mode: "lax" } } },
});`;

it("own code that forgets what fails does not end the server: it is raised where it belongs, and counted", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "triplane.config.ts"), CONFIG);
  const server = await startServerProcess({
    DATABASE_URL: await testDatabaseUrl(),
    TRIPLANE_DATA_DIR: join(folder, "data"),
    TRIPLANE_CONFIG: join(folder, "triplane.config.ts"),
  });
  const client = connect(server.url);
  const agent = await client.createAgent();
  expect(ofType(await client.turn(agent.id, "go"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  const errors = async (): Promise<string[]> =>
    ofType(await client.events(agent.id), "ErrorRaised").map(({ detail, message }) => `${detail} ${message}`);
  await expect.poll(async () => (await errors()).length).toBe(5);
  const all = (await errors()).join("\n");
  expect(all).toMatch(/forgotten_rejection the call .* of forgetful .*forgotten by the tool/);
  for (const what of ["forgotten by the hook", "forgotten by the mode", "thrown in a timer"]) expect(all).toContain(what);
  expect(all).toMatch(/the listener on\.TOOL_END .*forgotten by the listener/);
  const metrics = await (await fetch(server.url.replace("/graphql", "/metrics"))).text();
  expect(metrics).toMatch(/^triplane_forgotten_failures_total 5$/m);
});
