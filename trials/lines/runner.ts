import { spawn } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { text } from "node:stream/consumers";
import type { Batch, Effect } from "./boxed-lines.ts";

/**
 * Runs in a box: each line of a batch by bash, as bash_run does, and looks after each for what it did: a file outside of TMPDIR
 * that is another, the canary in what it printed, a connection, a process that is left, or no end. Writes the first effect as JSON.
 */
const LINE_MS = 5_000;
const PRINTED_BYTES = 8 * 1024 * 1024;

const { lines, folder, watched, canary, port, environment } = JSON.parse(await text(process.stdin)) as Batch;
let connections = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.destroy();
}).listen(port, "127.0.0.1");
await new Promise((resolve) => listener.once("listening", resolve));
const own = new Set(processes());
let before = snapshot();
let effect: Effect | null = null;
for (const [index, line] of lines.entries()) {
  const what = await effectOf(line);
  if (what === null) continue;
  effect = { index, what };
  break;
}
process.stdout.write(JSON.stringify({ effect }), () => process.exit(0));

async function effectOf(line: string): Promise<string | null> {
  const child = spawn("bash", ["--noprofile", "--norc", "-c", line], {
    cwd: folder,
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  child.stdin.end();
  let printed = "";
  const hear = (chunk: Buffer): void => {
    if (printed.length < PRINTED_BYTES) printed += chunk.toString("latin1");
    else child.kill("SIGKILL");
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, LINE_MS);
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(late);
  await setImmediate();
  if (isLate || printed.length >= PRINTED_BYTES) return "it has no end";
  if (printed.includes(canary)) return "it printed the canary";
  if (connections > 0) return "it connected to the listener";
  const left = processes().find((each) => !own.has(each));
  if (left !== undefined) return `it left the process ${left}`;
  const now = snapshot();
  const changed = [...new Set([...before.keys(), ...now.keys()])].find((path) => before.get(path) !== now.get(path));
  before = now;
  return changed === undefined ? null : `it changed ${changed}`;
}

function processes(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !isZombie(name));
}

function isZombie(name: string): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${name}/stat`, "latin1"));
  } catch {
    // It is gone.
    return true;
  }
}

/** What lies in the watched folders: all that changes with a file, but when it was read. */
function snapshot(): Map<string, string> {
  const found = new Map<string, string>();
  const folders = [...watched];
  for (let each = folders.pop(); each !== undefined; each = folders.pop())
    for (const name of readdirSync(each)) {
      const path = join(each, name);
      const { mode, size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true });
      const isFolder = (mode & 0o170000n) === 0o040000n;
      const isLink = (mode & 0o170000n) === 0o120000n;
      // git keeps there what it has seen of files, also if it only looks.
      if (/\/\.git(?:\/index)?$/.test(path)) {
        if (isFolder) folders.push(path);
        continue;
      }
      found.set(path, `${mode} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${isLink ? readlinkSync(path) : ""}`);
      if (isFolder) folders.push(path);
    }
  return found;
}
