import { access, appendFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { checkout, otherLockfile, type Checkout } from "../support/checkout.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { runPath } from "../support/process.ts";

/** A configuration that ends the start, and says which file runs. */
const SAYS_WHAT_RUNS = `throw new Error("what runs: " + process.argv[1]);`;

/** A configuration outside of the checkout, with a tool of its own that asks the server's modules who they are. */
const CONFIG = `
import { defineConfig, defineTool, PathRefused, Type } from "triplane";
const tool = defineTool({
  name: "asks", description: "x", readOnly: true, inputSchema: Type.Object({}),
  run: async (_input, { start, workspace }) => {
    const program = await start("echo", ["a program ran"]);
    let said = "";
    for await (const piece of program.stdout) said += piece;
    const refused = await workspace.openForReading("../outside").catch((error) => error);
    return { output: [said, "same class: " + (refused instanceof PathRefused), refused.stack].join("\\n"), details: null };
  },
});
export default defineConfig({
  models: { m: { provider: "scripted", script: { replies: [
    { when: { user: "." }, call: [{ tool: "asks", input: {} }] },
    { when: { result: "asks" }, say: ["{{result}}\\n"], call: [{ tool: "fs_grep", input: { pattern: "f[o]+und", regex: true } }] },
    { when: { result: "fs_grep" }, say: ["{{result}}"] },
  ] } } },
  tools: [tool],
  templates: { assistant: { model: "m", systemPrompt: "x", permission: { mode: "auto" } } },
});
console.log("what runs: " + process.argv[1]);`;

/** The file that a start runs, as a configuration in the checkout's place says it, and all that was said. */
async function whatRuns({
  folder,
  start,
}: Pick<Checkout, "folder" | "start">): Promise<{ readonly file: string; readonly output: string }> {
  await writeFile(join(folder, "triplane.config.ts"), SAYS_WHAT_RUNS);
  const server = start({});
  expect(await server.exited, server.output()).toBe(1);
  const output = server.output();
  return { file: /what runs: (\S+)/.exec(output)?.[1] ?? "", output };
}

describe("npm start runs a bundle of the sources", () => {
  it("in which a configuration's triplane is the server itself, and migrations, programs and threads are found; traces show the sources", async () => {
    const { folder, start } = await checkout();
    const outside = await temporaryFolder();
    await writeFile(join(outside, "triplane.config.ts"), CONFIG);
    await writeFile(join(outside, "text.txt"), "it is found here");
    const server = start({
      TRIPLANE_CONFIG: join(outside, "triplane.config.ts"),
      TRIPLANE_DATA_DIR: join(outside, ".data"),
    });
    const url = await server.says(/http:\/\/127\.0\.0\.1:\d+\/graphql/);
    expect(server.output()).toContain(`what runs: ${folder}/.triplane/bundles/`);
    const client = connect(url);
    const agent = await client.createAgent({ workspace: outside });
    const events = await client.turn(agent.id, "go");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(events)).toContain("a program ran");
    expect(textOf(events)).toContain("same class: true");
    expect(textOf(events)).toMatch(new RegExp(`${folder}/src/agent/workspace/\\w+\\.ts:\\d+`));
    expect(textOf(events)).toContain("text.txt:1:7: it is found here");
  }, 120_000);

  it("and another one once a source has changed; the old one goes, and so does one that was begun by a process that died", async () => {
    const laidOut = await checkout();
    const before = await whatRuns(laidOut);
    expect(before.file).toContain("/.triplane/bundles/");
    expect((await whatRuns(laidOut)).file).toBe(before.file);
    // What Node has compiled of a bundle is kept with it.
    expect(await readdir(join(before.file, "../compiled"))).not.toEqual([]);
    await mkdir(join(laidOut.folder, ".triplane/bundles/making-1"));
    await appendFile(join(laidOut.folder, "src/config/config.ts"), `console.log("a line more");\n`);
    const after = await whatRuns(laidOut);
    expect(after.output).toContain("a line more");
    expect(after.file).toContain("/.triplane/bundles/");
    expect(await laidOut.bundles()).toEqual([after.file.split("/").at(-2)]);
  }, 60_000);

  it("once, if two start at the same time", async () => {
    const laidOut = await checkout();
    const [one, two] = await Promise.all([whatRuns(laidOut), whatRuns(laidOut)]);
    expect(one.file).toContain("/.triplane/bundles/");
    expect(two.file).toBe(one.file);
    expect(await laidOut.bundles()).toHaveLength(1);
  }, 60_000);
});

it("an install makes the bundle and the folder that new databases are copies of, whatever was started, and whatever once ran", async () => {
  const there = await checkout();
  const { folder, bundles } = there;
  await rm(join(folder, ".triplane/initialised"));
  await otherLockfile(there);
  // What npm would install is there.
  const npm = join(folder, "npm.js");
  await writeFile(npm, "");
  // The id of a program that ran once has been given to another process.
  await mkdir(join(folder, ".triplane/running"));
  await writeFile(join(folder, ".triplane/running", String(process.pid)), "1");
  const program = join(folder, "program.mjs");
  await writeFile(program, `console.log("runs");`);
  const started = runPath(join(folder, "scripts/bootstrap.mjs"), [program], { npm_execpath: npm });
  expect(await started.exited, started.output()).toBe(0);
  expect(started.output()).toContain("runs");
  expect(await bundles()).toHaveLength(1);
  expect(await readdir(join(folder, ".triplane/initialised"))).toEqual([expect.stringMatching(/^pglite-\d/)]);
}, 120_000);

it("the bootstrap makes a bundle of changed sources for a user who only reads them, and says which Node runs", async () => {
  const { folder, bundles } = await checkout();
  const made = runPath(join(folder, "scripts/bootstrap.mjs"), ["--version"], {});
  expect(await made.exited, made.output()).toBe(0);
  expect(made.output()).toMatch(/^Triplane \d+\.\d+\.\d+.*, Node \d+\.\d+\.\d+$/m);
  expect(await bundles()).toHaveLength(1);
}, 60_000);

describe("npm start runs the sources", () => {
  it("where no bundle can be written, and says so once", async () => {
    const laidOut = await checkout();
    await writeFile(join(laidOut.folder, ".triplane/bundles"), "in the way");
    const { file, output } = await whatRuns(laidOut);
    expect(file).toBe(join(laidOut.folder, "src/main.ts"));
    expect(output.match(/runs from its sources/g)).toHaveLength(1);
  }, 60_000);

  it("where they cannot be bundled, and says why", async () => {
    const laidOut = await checkout();
    await appendFile(join(laidOut.folder, "src/config/config.ts"), "export const PLACE = import.meta.dirname;\n");
    const { file, output } = await whatRuns(laidOut);
    expect(file).toBe(join(laidOut.folder, "src/main.ts"));
    expect(output).toContain("src/config/config.ts uses import.meta for something else than import.meta.url");
  }, 60_000);

  it("takes over a lock that names nobody, or whose process has its own id", async () => {
    const { folder, start } = await checkout();
    await writeFile(join(folder, ".triplane/install.lock"), "");
    const { file } = await whatRuns({ folder, start });
    expect(file).toContain("/.triplane/bundles/");
    await expect(access(join(folder, ".triplane/install.lock"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
