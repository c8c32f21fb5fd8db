import { access, appendFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { checkout, otherLockfile } from "../support/checkout.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { runAtTerminal, runPath } from "../support/process.ts";

/** A configuration that keeps the start waiting, and ends it at a SIGINT. */
const WAITS_FOR_SIGINT = `
process.on("SIGINT", () => {
  console.log("a SIGINT came");
  process.exit(0);
});
setInterval(() => {}, 120_000);
console.log("bootstrap: " + process.ppid);
await new Promise(() => {});`;

it("SIGINT to the bootstrap of a server is passed on, also if its input is a terminal, which says nothing", async () => {
  const { folder } = await checkout();
  await writeFile(join(folder, "triplane.config.ts"), WAITS_FOR_SIGINT);
  const server = runAtTerminal(join(folder, "scripts/bootstrap.mjs"), ["--bundle", "src/main.ts"]);
  const bootstrap = await server.says(/bootstrap: \d+/);
  process.kill(Number(bootstrap.split(" ")[1]), "SIGINT");
  expect(await server.exited, server.output()).toBe(0);
  expect(server.output()).toContain("a SIGINT came");
}, 120_000);

it("nothing is installed below a program of the bootstrap that runs", async () => {
  const there = await checkout();
  const { folder } = there;
  const program = join(folder, "program.mjs");
  await writeFile(program, 'setInterval(() => {}, 120_000); console.log("runs: " + process.pid);');
  const running = runPath(join(folder, "scripts/bootstrap.mjs"), [program], {});
  const [, id] = (await running.says(/runs: \d+/)).split(" ");
  await otherLockfile(there);
  const second = runPath(join(folder, "scripts/bootstrap.mjs"), [program], {});
  expect(await second.exited, second.output()).toBe(1);
  expect(second.output()).toContain(`process ${id} runs with the old ones: stop it first`);
  running.child.kill("SIGTERM");
  await running.exited;
}, 120_000);

it("the database client is generated on a clone that npm did not start", async () => {
  const { folder } = await checkout();
  await rm(join(folder, ".triplane/generated"));
  const program = join(folder, "program.mjs");
  await writeFile(program, 'console.log("runs");');
  const PATH = [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  const started = runPath(join(folder, "scripts/bootstrap.mjs"), [program], { PATH });
  expect(await started.exited, started.output()).toBe(0);
  expect(started.output()).toContain("runs");
}, 120_000);

it("a lock of a process whose id another one has by now, as in a container that was started anew, is taken over", async () => {
  const { folder } = await checkout();
  await rm(join(folder, ".triplane/generated"));
  // This process lives, and started at another time.
  await writeFile(join(folder, ".triplane/install.lock"), `${process.pid} 1`);
  const program = join(folder, "program.mjs");
  await writeFile(program, 'console.log("runs");');
  const started = runPath(join(folder, "scripts/bootstrap.mjs"), [program], {});
  expect(await started.exited, started.output()).toBe(0);
  expect(started.output()).not.toContain("Waiting for process");
  expect(await readdir(join(folder, ".triplane"))).not.toContain("install.lock");
}, 120_000);

it("what `npm ci` has installed is not installed again", async () => {
  const { folder } = await checkout();
  const mark = join(folder, ".triplane/installed");
  const before = await readFile(mark, "utf8");
  await rm(mark);
  const npm = join(folder, "npm.js");
  await writeFile(npm, "process.exit(1);");
  const program = join(folder, "program.mjs");
  await writeFile(program, 'console.log("runs");');
  const started = runPath(join(folder, "scripts/bootstrap.mjs"), [program], { npm_execpath: npm });
  expect(await started.exited, started.output()).toBe(0);
  expect(started.output()).not.toContain("Installing the dependencies");
  expect(await readFile(mark, "utf8")).toBe(before);
}, 120_000);

it("an install that breaks off leaves no mark that the dependencies are there", async () => {
  const there = await checkout();
  const { folder } = there;
  await otherLockfile(there);
  const mark = join(folder, ".triplane/installed");
  await writeFile(mark, "another lockfile");
  const npm = join(folder, "npm.js");
  await writeFile(npm, "process.exit(1);");
  const broken = runPath(join(folder, "scripts/bootstrap.mjs"), ["--version"], { npm_execpath: npm });
  expect(await broken.exited, broken.output()).toBe(1);
  expect(broken.output()).toContain("npm could not install the dependencies");
  await expect(access(mark)).rejects.toThrow("ENOENT");
}, 120_000);

it("an install without the Node of this platform is made once more", async () => {
  const { folder } = await checkout();
  await rm(join(folder, "node_modules"));
  const said = join(folder, "npm-said");
  const npm = join(folder, "npm.js");
  const says = `import { appendFileSync, mkdirSync } from "node:fs";
    appendFileSync(${JSON.stringify(said)}, "ci\\n");
    mkdirSync(${JSON.stringify(join(folder, "node_modules"))}, { recursive: true });`;
  await writeFile(npm, says);
  await runPath(join(folder, "scripts/bootstrap.mjs"), ["--version"], { npm_execpath: npm }).exited;
  expect(await readFile(said, "utf8")).toBe("ci\nci\n");
}, 120_000);

it("an install for production leaves out what only development needs, and says what it cannot run", async () => {
  const { folder } = await checkout();
  const said = join(folder, "npm-said");
  const npm = join(folder, "npm.js");
  const says = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(said)}, process.argv.slice(2).join(" "));`;
  await writeFile(npm, says);
  const run = async (...words: readonly string[]) => {
    const ran = runPath(join(folder, "scripts/bootstrap.mjs"), words, { npm_execpath: npm });
    return { code: await ran.exited, output: ran.output() };
  };
  const installed = await run("--production");
  expect(installed.code, installed.output).toBe(0);
  expect(installed.output).toMatch(/Installed for production, .* runs on Node \S+ of this machine/);
  expect(await readFile(said, "utf8")).toContain("ci --omit=dev --omit=peer --omit=optional");
  expect((await run("--version")).output).toMatch(/^Triplane /m);
  expect(await readdir(join(folder, ".triplane/bundles"))).toHaveLength(1);

  const development = await run("node_modules/vitest/vitest.mjs");
  expect(development).toMatchObject({ code: 1, output: expect.stringContaining("without what node_modules/vitest") });
  const changed = "the sources have changed since they were installed for production";
  await appendFile(join(folder, "src/exit.ts"), "\n// Changed.\n");
  expect(await run("--version")).toMatchObject({ code: 0, output: expect.stringContaining(changed) });
  await appendFile(join(folder, "package-lock.json"), "\n");
  const other = await run("--version");
  expect(other).toMatchObject({ code: 1, output: expect.stringContaining("run `npm run install:production` again") });
  expect(await readFile(said, "utf8")).toContain("--omit=dev");
}, 120_000);

it("an install for production has a built console, which its server serves from the start", async () => {
  const laid = await checkout();
  const { folder } = laid;
  const from = fileURLToPath(new URL("../..", import.meta.url));
  for (const name of ["console", "clients", "examples"]) await cp(join(from, name), join(folder, name), { recursive: true });
  const npm = join(folder, "npm.js");
  await writeFile(npm, "");
  const installed = runPath(join(folder, "scripts/bootstrap.mjs"), ["--production"], { npm_execpath: npm });
  expect(await installed.exited, installed.output()).toBe(0);
  expect(await readdir(join(folder, ".triplane/console"))).toHaveLength(1);
  const server = laid.start({ TRIPLANE_DATA_DIR: await embeddedFolder() });
  const address = (await server.says(/http:\/\/127\.0\.0\.1:\d+\/console/)).trim();
  const page = async () => (await fetch(address, { headers: { accept: "text/html" } })).status;
  await expect.poll(page).toBe(200);
}, 120_000);
