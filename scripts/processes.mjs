// The processes that run from this checkout, and the lock of those that install: plain JavaScript for Node 20.
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of what the bootstrap knows of this checkout. */
export const STATE = fileURLToPath(new URL("../.triplane", import.meta.url));
/** A mark for each process that runs, by its id. */
export const RUNNING = join(STATE, "running");
const LOCK = join(STATE, "install.lock");
const WAIT_MS = 200;
const PATIENCE_TOLD_MS = 5_000;

/** The ids of the processes that run from this checkout. */
export function runningProcesses() {
  if (!existsSync(RUNNING)) return [];
  return readdirSync(RUNNING).filter((pid) => isMarked(pid) || rmSync(join(RUNNING, pid), { force: true }));
}

/** Whether the process of the mark runs, and not another one that was given its id later. */
function isMarked(pid) {
  if (!isAlive(Number(pid))) return false;
  const [marked, present] = [textOf(join(RUNNING, pid)), startOf(pid)];
  return marked === "" || present === "" || marked === present;
}

/** The time at which a process started, in ticks since the machine did; "" where the system does not say. */
export function startOf(pid) {
  // Field 22 of proc_pid_stat(5). The second one, the name of the program, may have spaces and parentheses.
  const [, start = ""] = /.*\) (?:\S+ ){19}(\d+) /s.exec(textOf(`/proc/${pid}/stat`)) ?? [];
  return start;
}

/** The text of a file; "" if there is none, or no longer. */
export function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * One at a time: others wait, and then find the step done. A lock whose process died, or that was never written, is taken over.
 * A caller that has something else to do waits `patienceMs` at most, and throws then. A lock names its process and when that started:
 * in a container each start gives the same ids to other processes.
 */
export function locked(step, patienceMs = Infinity) {
  mkdirSync(STATE, { recursive: true });
  const own = `${LOCK}.${process.pid}`;
  // Written before it is the lock: there is never one that names nobody, not even on a full disk.
  writeFileSync(own, ownerText());
  try {
    for (let waitedMs = 0; !tryLink(own); waitedMs += WAIT_MS) {
      const seen = textOf(LOCK);
      const owner = seen.split(" ")[0];
      if (waitedMs >= patienceMs) throw new Error(`process ${owner} is at work on ${STATE}`);
      if (waitedMs === PATIENCE_TOLD_MS)
        console.error(
          `Waiting for process ${owner}, which is at work on ${STATE} … If that process is something else, remove ${LOCK}.`,
        );
      if (existsSync(LOCK) && !isOwned(seen)) removeLock(seen, own);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
  try {
    step();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/** The text by which a lock names this process. */
function ownerText() {
  return `${process.pid} ${startOf(process.pid)}`;
}

/** True if the process that a lock names still runs, and is another one than this. */
function isOwned(text) {
  const [pid, start = ""] = text.split(" ");
  if (!(Number(pid) > 0) || Number(pid) === process.pid || !isAlive(Number(pid))) return false;
  const present = startOf(pid);
  return start === "" || present === "" || start === present;
}

/** Removes a lock that was left behind, unless somebody else has done so, and has it by now. */
function removeLock(seen, own) {
  const stale = `${own}.stale`;
  try {
    renameSync(LOCK, stale);
    if (textOf(stale) !== seen) linkSync(stale, LOCK);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
  rmSync(stale, { force: true });
}

function tryLink(own) {
  try {
    linkSync(own, LOCK);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

/** Lets others install, if this process has the lock. */
export function unlock() {
  if (existsSync(LOCK) && textOf(LOCK) === ownerText()) rmSync(LOCK, { force: true });
}
