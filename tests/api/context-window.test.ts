import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { calls, callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

it("every step of a long turn is given its task, also after the server has noted that a file was changed", async () => {
  let workspace = "";
  const meddle = ownTool("meddle", async () => {
    await appendFile(join(workspace, "a.txt"), "of another program");
    return { output: "ok", details: null };
  });
  const reads = Array.from({ length: 6 }, () => () => calls("todo_read"));
  const read = () => callsWith(["fs_read", { path: "a.txt" }]);
  const model = playedModel(
    read,
    () => calls("meddle"),
    ...reads,
    () => says("done"),
  );
  const template = { contextMessages: 8, permission: { mode: "auto" as const } };
  const app = await startTestApp({ model, config: { tools: [meddle] }, template });
  workspace = app.workspace;
  await writeFile(join(workspace, "a.txt"), "one");
  const client = connect(app.url);
  await client.turn((await client.createAgent()).id, "count the lines");
  const given = model.calls.map(({ request }) => JSON.stringify(request.messages));
  expect(given.some((messages) => messages.includes("changed"))).toBe(true);
  expect(given.filter((messages) => !messages.includes("count the lines"))).toEqual([]);
});
