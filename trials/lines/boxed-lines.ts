import { spawn } from "node:child_process";
import { cp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { programEnvironment } from "../../src/agent/calls/programs/programs.ts";
import { availability } from "../../src/agent/workspace/sandbox/available.ts";
import { CANARY, type Fixture } from "./fixtures.ts";

/** The lines that are run in one box, and where. */
export type Batch = {
  readonly lines: readonly string[];
  readonly folder: string;
  /** The folders in which nothing may change. */
  readonly watched: readonly string[];
  readonly canary: string;
  /** The port of this machine's own at which nobody may connect. */
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** What a line did, and its place in its batch. */
export type Effect = { readonly index: number; readonly what: string };

const PORT = 4_999;
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));
const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));
let boxes = 0;

/** Runs lines in a throw-away box with a copy of their workspace, and gives the first effect; null for none. */
export async function runBoxed(
  folder: string,
  { workspace, outside }: Fixture,
  lines: readonly string[],
): Promise<Effect | null> {
  const found = availability();
  if (!found.isAvailable) throw new Error(`this trial needs boxes: ${found.reason}`);
  boxes += 1;
  const place = join(folder, `box-${boxes}`);
  const [home, project, beside] = [join(place, "home"), join(place, "project"), join(place, "outside")];
  await mkdir(home, { recursive: true });
  const copied = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;
  await cp(workspace, project, copied);
  await cp(outside, beside, copied);
  const homeInBox = join(dirname(workspace), "home");
  const binds = [
    ["--bind", project, workspace],
    ["--bind", beside, outside],
    ["--bind", home, homeInBox],
    ["--ro-bind", CHECKOUT, CHECKOUT],
    ["--ro-bind", dirname(process.execPath), dirname(process.execPath)],
  ].flat();
  const args = `--unshare-all --die-with-parent --new-session --ro-bind / / --tmpfs ${tmpdir()} --proc /proc --dev /dev`.split(
    " ",
  );
  const box = spawn(found.path, [...args, ...binds, process.execPath, RUNNER], { stdio: "pipe" });
  const batch: Batch = {
    lines,
    folder: workspace,
    watched: [workspace, outside, homeInBox],
    canary: CANARY,
    port: PORT,
    environment: { ...programEnvironment(), HOME: homeInBox, TMPDIR: tmpdir() },
  };
  box.stdin.end(JSON.stringify(batch));
  const [said, problems] = await Promise.all([text(box.stdout), text(box.stderr)]);
  await rm(place, { recursive: true, force: true });
  if (said === "") throw new Error(`a box did not run its lines: ${problems}`);
  const { effect } = JSON.parse(said) as { readonly effect: Effect | null };
  return effect;
}
