import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { ownServer, referenceServer } from "../support/mcp.ts";
import { allowed, appWith } from "../support/mcp-app.ts";

it("the filesystem server works in the folder of each agent, also of several at once", async () => {
  const folder = await temporaryFolder();
  const { client } = await appWith(
    { files: { ...referenceServer("filesystem"), roots: "told" } },
    ["mcp__files__write_file", { path: "note.txt", content: "A note.\n" }],
    { template: allowed("files"), config: { workspaceRoots: [folder] } },
  );
  const folders = ["a", "b", "c"].map((name) => join(folder, name));
  for (const each of folders) await mkdir(each);
  // Two agents share each folder.
  const agents = await Promise.all(
    [...folders, ...folders].map(async (workspace) => (await client.createAgent({ workspace })).id),
  );
  await Promise.all(agents.map((id) => client.turn(id, "go")));
  for (const id of agents) expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED" }]);
  for (const each of folders) expect(await readFile(join(each, "note.txt"), "utf8")).toBe("A note.\n");
  expect(await readdir(folder)).toEqual(["a", "b", "c"]);
});

it("a server that takes in its roots slowly never works in the folder of another agent", async () => {
  const { app, client } = await appWith({ own: { ...ownServer("rooted.mjs", "500"), roots: "told" } }, ["mcp__own__where", {}], {
    template: allowed("own"),
  });
  const folders = ["a", "b"].map((name) => join(app.workspace, name));
  const said: (string | null | undefined)[][] = [];
  for (const folder of folders) {
    await mkdir(folder);
    const { id } = await client.createAgent({ workspace: folder });
    const outputs: (string | null | undefined)[] = [];
    said.push(outputs);
    await expect
      .poll(
        async () => {
          await client.turn(id, "go");
          outputs.push((await client.agent(id)).toolCalls.nodes.at(-1)?.output);
          return outputs.at(-1);
        },
        { timeout: 10_000 },
      )
      .toBe(pathToFileURL(folder).href);
  }
  for (const [index, folder] of folders.entries())
    for (const output of said[index] ?? []) expect(["none", pathToFileURL(folder).href]).toContain(output);
}, 30_000);
