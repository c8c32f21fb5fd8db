import { Deadline } from "../src/lib/time.ts";
import { ProgramLease, ProcessGroups } from "../src/agent/workspace/process-groups.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coverRule } from "../src/agent/policy/cover-rule.ts";
import { readPermission } from "../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../src/agent/tools/builtin.ts";
import type { HostDecision } from "../src/agent/workspace/network/reach.ts";
import { availability } from "../src/agent/workspace/sandbox/available.ts";
import { BubblewrapSandbox } from "../src/agent/workspace/sandbox/bubblewrap.ts";
import { CoveredPaths } from "../src/agent/workspace/sandbox/covered-paths.ts";
import { BOX_LIMITS } from "../src/agent/workspace/sandbox/control-groups.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";

const TURNS = 100;
const FOLDERS = 400;
const FILES_OF_A_FOLDER = 50;
/** Files that the deny glob closes. */
const DENIED = 3;

/** The ms that a box adds to a bare spawn of a program that does nothing: in a repository of a few files, in one of 20,000 with a deny glob, and with a proxy to the network. In turns; medians. */
export async function sandbox(): Promise<Figure[]> {
  const available = availability();
  if (!available.isAvailable) throw new Error(`there is no box to be measured: ${available.reason}`);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "triplane-bench-")));
  const groups = new ProcessGroups();
  const settings = { folder: join(folder, "box"), read: [], protect: [], closed: [], limits: BOX_LIMITS, controlGroups: null };
  const boxes = new BubblewrapSandbox(groups, available, settings);
  try {
    const [few, many] = [
      await repository(join(folder, "few"), 1, 10),
      await repository(join(folder, "many"), FOLDERS, FILES_OF_A_FOLDER),
    ];
    return [
      await added("sandbox", boxes, few, null),
      await added("sandbox, 20,000 files", boxes, many, null),
      await added("sandbox, network", boxes, few, () => false),
    ];
  } finally {
    await boxes.close();
    groups.close();
    await rm(folder, { recursive: true });
  }
}

/** Makes a repository, as far as a box looks at one. */
async function repository(workspace: string, folders: number, files: number): Promise<string> {
  await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
  await writeFile(join(workspace, ".git", "config"), "");
  for (let folder = 0; folder < folders; folder += 1) {
    await mkdir(join(workspace, "src", String(folder)), { recursive: true });
    for (let file = 0; file < files; file += 1)
      await writeFile(
        join(workspace, "src", String(folder), folder === file && file < DENIED ? `${file}.pem` : `${file}.ts`),
        "",
      );
  }
  return workspace;
}

async function added(name: string, boxes: BubblewrapSandbox, workspace: string, network: HostDecision | null): Promise<Figure> {
  const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
  const { permission } = readPermission({ deny: ["fs_*(path:**/*.pem)"] }, "bench", { tools, modes: new Map() });
  const paths = new CoveredPaths();
  const { signal } = new AbortController();
  const home = `${workspace}-home`;
  await mkdir(home, { recursive: true });

  const bare = async (): Promise<void> => {
    await once(spawn("/bin/true", { cwd: workspace, env: {}, stdio: ["pipe", "pipe", "pipe"] }), "exit");
  };
  const boxed = async (): Promise<void> => {
    const rule = coverRule({ permission, bounds: [], stored: [], box: { protectedPaths: [] } });
    const look = () => paths.find(workspace, rule, signal);
    const argv = ["/bin/true"] as const;
    await (
      await boxes.start(
        {
          argv,
          folder: workspace,
          env: {},
          workspace,
          home,
          look,
          network,
          isBackground: false,
          lease: new ProgramLease(new Deadline(Infinity), { tenant: "bench", agent: "bench" }),
          answering: async () => true,
        },
        signal,
      )
    ).ended;
  };

  const times: { readonly bare: number[]; readonly boxed: number[] } = { bare: [], boxed: [] };
  for (let turn = 0; turn < TURNS * 1.1; turn += 1)
    for (const [kind, run] of [["bare", bare] as const, ["boxed", boxed] as const]) {
      const began = performance.now();
      await run();
      if (turn >= TURNS * 0.1) times[kind].push(performance.now() - began);
    }
  const baseline = median(times.bare);
  const value = median(times.boxed) - baseline;
  return { name, value, unit: "ms added", baseline, ratio: value / baseline };
}
