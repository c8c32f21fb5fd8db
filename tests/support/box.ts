import { Deadline } from "../../src/lib/time.ts";
import { ProgramLease, ProcessGroups, type ProcessGroup } from "../../src/agent/workspace/process-groups.ts";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { INTERNET, type Network } from "../../src/agent/workspace/network/reach.ts";
import { availability, type Bubblewrap } from "../../src/agent/workspace/sandbox/available.ts";
import { BubblewrapSandbox, type BoxSettings } from "../../src/agent/workspace/sandbox/bubblewrap.ts";
import type { FoundInWorkspace } from "../../src/agent/workspace/sandbox/covered-paths.ts";
import { BOX_LIMITS } from "../../src/agent/workspace/sandbox/control-groups.ts";
import type { Program } from "../../src/agent/workspace/sandbox/sandbox.ts";
import { temporaryFolder } from "./app.ts";

/** The boxes of this machine. */
const available = availability();

/** True if tests with boxes are left out: this machine makes none, and this is not continuous integration, where it must. */
export const hasNoBox = !available.isAvailable && process.env["CI"] === undefined;

/** True if the machine's bubblewrap makes no box with protected paths beside a program that runs. */
export const followsLinks = available.isAvailable && available.followsLinks;

/** The output of a program of a box, and its end. */
export type Said = {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly notes: readonly string[];
};

/** Of a program, and of what is found in its workspace, what is not as usual. */
export type TestProgram = Partial<Program & FoundInWorkspace>;

/** A sandbox of the test's own, with a workspace and a HOME. */
export type TestBox = {
  readonly folder: string;
  readonly workspace: string;
  readonly home: string;
  readonly sandbox: BubblewrapSandbox;
  readonly groups: ProcessGroups;
  /** Starts a command line of bash. */
  start(command: string, program?: TestProgram, signal?: AbortSignal): Promise<ProcessGroup>;
  /** Runs a command line of bash to its end. */
  run(command: string, program?: TestProgram): Promise<Said>;
};

/** Makes a sandbox in a temporary folder. Another `bubblewrap` is the machine's own with another claim. */
export async function testBox(
  settings: Partial<BoxSettings> = {},
  bubblewrap: Partial<Bubblewrap> = {},
  network: Network = INTERNET,
): Promise<TestBox> {
  if (!available.isAvailable) throw new Error(available.reason);
  const folder = await realpath(await temporaryFolder());
  const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
  await Promise.all([workspace, home].map((each) => mkdir(each)));
  const groups = new ProcessGroups();
  const sandbox = new BubblewrapSandbox(
    groups,
    { ...available, ...bubblewrap },
    { folder: join(folder, "box"), read: [], protect: [], closed: [], limits: BOX_LIMITS, controlGroups: null, ...settings },
    network,
  );
  onTestFinished(async () => {
    await sandbox.close();
    groups.close();
  });
  const start: TestBox["start"] = (
    command,
    { covered = [], repositories = [], ...program } = {},
    signal = new AbortController().signal,
  ) =>
    sandbox.start(
      {
        argv: ["bash", "--noprofile", "--norc", "-c", command],
        folder: workspace,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home },
        workspace,
        home,
        look: async () => ({ covered, repositories }),
        network: null,
        isBackground: false,
        lease: new ProgramLease(new Deadline(Infinity), { tenant: "one", agent: "a" }),
        answering: async () => true,
        ...program,
      },
      signal,
    );
  return {
    folder,
    workspace,
    home,
    sandbox,
    groups,
    start,
    run: async (command, program) => ended(await start(command, program)),
  };
}

/** Waits for the end of a program. */
export async function ended({ process: child, ended: end }: ProcessGroup): Promise<Said> {
  child.stdin.end();
  const [out, err, { notes }] = await Promise.all([text(child.stdout), text(child.stderr), end]);
  return { code: child.exitCode, out, err, notes };
}
