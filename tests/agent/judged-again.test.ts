import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { playedModel, says } from "../support/models.ts";

/** Calls a tool that makes a link, and one that writes below it, in one answer. */
async function* linksAndWrites(): AsyncGenerator<ModelEvent> {
  yield { type: "tool_use", block: 0, id: "a", name: "link", arguments: "{}" };
  yield {
    type: "tool_use",
    block: 1,
    id: "b",
    name: "fs_write",
    arguments: JSON.stringify({ path: "notes/hook", content: "written" }),
  };
  yield { type: "end", stopReason: "tool_use", usage: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 } };
}

it("a verdict does not outlive a sibling that may have changed what it was about (A9, invariant 14)", async () => {
  const link = defineTool<Record<string, never>>({
    name: "link",
    description: "Replaces the folder notes by a link.",
    readOnly: false,
    inputSchema: { type: "object", required: [], properties: {} },
    run: async (_input, { workspace }) => {
      await symlink(join(workspace.root, "closed"), join(workspace.root, "notes"));
      return { output: "linked", details: null };
    },
  });
  const app = await startTestApp({
    model: playedModel(linksAndWrites, () => says("done")),
    config: { tools: [link] },
    template: { permission: { mode: "approval", allow: ["link", "fs_write(path:notes/hook)"] } },
  });
  await mkdir(join(app.workspace, "closed"));
  await writeFile(join(app.workspace, "closed", "hook"), "as before");
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  const events = await client.until(agent.id, "PERMISSION_REQUIRED");
  expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { call: { name: "fs_write" } } }]);
  expect(await readFile(join(app.workspace, "closed", "hook"), "utf8")).toBe("as before");
});
