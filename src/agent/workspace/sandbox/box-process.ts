import { readFileSync } from "node:fs";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { listenerOf } from "../network/listener.ts";
import type { ProgramLease, ProcessGroup, ProcessGroups } from "../process-groups.ts";
import { messageOf } from "../../../lib/text.ts";
import { argumentBytes, DESCRIPTORS } from "./bubblewrap-arguments.ts";
import type { ControlGroup } from "./control-groups.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

export type BoxParts = {
  readonly bubblewrap: string;
  readonly args: readonly string[];
  readonly filter: Buffer;
  readonly shell: readonly [file: string, ...options: string[]];
  readonly launcher: string;
  readonly startFile: string;
  readonly hasNetwork: boolean;
  readonly controlGroup: ControlGroup | null;
  readonly lease: ProgramLease;
};

const FIRST = DESCRIPTORS.arguments;

/**
 * Makes a box and starts its program. `end` kills the first process of the box; the system then ends all others before
 * bubblewrap ends. Throws SandboxRefused if the box cannot be made, or `signal` aborts meanwhile.
 */
export async function startBox(groups: ProcessGroups, parts: BoxParts, signal: AbortSignal): Promise<MadeBox> {
  const { bubblewrap, args, filter, shell, launcher, startFile, hasNetwork, controlGroup, lease } = parts;
  if (signal.aborted) throw aborted();
  const command = ["--args", String(DESCRIPTORS.arguments), "--", ...shell, "-c", launcher, "box"];
  const streamsOfBox = Array.from({ length: DESCRIPTORS.channel - FIRST }, () => "pipe" as const);
  const group = groups.start(bubblewrap, command, {
    folder: "/",
    env: {},
    streams: hasNetwork ? [...streamsOfBox, "ipc"] : streamsOfBox,
    lease,
  });
  const { process: child } = group;
  const streams = child.stdio.slice(FIRST, DESCRIPTORS.channel) as unknown as readonly Duplex[];
  const stream = (descriptor: number): Duplex => {
    const found = streams[descriptor - FIRST];
    if (found === undefined) throw new Error(`a box has no descriptor ${descriptor}`);
    return found;
  };
  for (const each of streams) each.on("error", () => {});

  let isMade = false;
  const ready = new Promise((resolve) => stream(DESCRIPTORS.ready).once("data", resolve));
  const first = new Promise<number | null>((resolve) => {
    stream(DESCRIPTORS.info).once("data", (chunk) => resolve(firstProcess(String(chunk))));
  });
  const taken = first.then((pid) => (controlGroup === null ? undefined : takeInto(controlGroup, pid)));
  const made = Promise.all([first, hasNetwork ? listenerOf(child) : null, ready, taken]);
  // Data without a reader is lost when a process exits.
  const failed = new Promise<string>((resolve) => {
    child.once("exit", () => {
      if (!isMade) resolve(text(child.stderr));
    });
  });
  stream(DESCRIPTORS.arguments).end(argumentBytes(args));
  stream(DESCRIPTORS.filter).end(filter);
  stream(DESCRIPTORS.start).end(startFile);

  const abort = (): void => group.end();
  signal.addEventListener("abort", abort, { once: true });
  const outcome = await Promise.race([made, failed]).catch((error: unknown) => {
    group.end();
    return messageOf(error);
  });
  signal.removeEventListener("abort", abort);
  if (typeof outcome === "string") {
    if (signal.aborted) throw aborted();
    throw new SandboxRefused(
      `the box could not be made (${outcome.trim() === "" ? `exit code ${child.exitCode}` : outcome.trim()})`,
    );
  }
  isMade = true;
  const [pid, listener] = outcome;
  // The program starts here: its caller gets all its output.
  stream(DESCRIPTORS.ready).end("go\n", () => streams.forEach((each) => each.destroy()));
  return {
    process: child,
    end: () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (pid === null || !killed(pid)) group.end();
    },
    ended: group.ended.then(async (end) => {
      if (pid !== null) await gone(pid);
      return end;
    }),
    listener,
  };
}

type MadeBox = ProcessGroup & { readonly listener: Server | null };

async function takeInto(controlGroup: ControlGroup, pid: number | null): Promise<void> {
  if (pid === null) throw new Error("bubblewrap does not tell its first process, which belongs into a control group");
  await controlGroup.take(pid);
}

function aborted(): SandboxRefused {
  return new SandboxRefused("the call ended before its program was started");
}

function firstProcess(info: string): number | null {
  const [, pid] = /"child-pid": (\d+)/.exec(info) ?? [];
  return pid === undefined ? null : Number(pid);
}

function killed(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** The time between two checks, and in all, for a box whose bubblewrap was killed first; ms. */
const LOOK_MS = 2;
const LOOKS = 1_000;

/** Resolves once a box's first process has ended, which is the last one of the box. */
async function gone(pid: number): Promise<void> {
  for (let look = 0; look < LOOKS && isAlive(pid); look += 1) await setTimeout(LOOK_MS);
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
