import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join, relative } from "node:path";
import type { AnsweringFolders } from "../answering-folders.ts";
import { CallProxy } from "../network/call-proxy.ts";
import { INTERNET, type Network } from "../network/reach.ts";
import type { ProcessGroup, ProcessGroups } from "../process-groups.ts";
import type { Bubblewrap } from "./available.ts";
import { boxPlan, type BoxPlan, type BoxSurroundings } from "./box-plan.ts";
import { startBox } from "./box-process.ts";
import { bubblewrapArguments, type Mount, inheritedDescriptors, launcherShell, systemRoot } from "./bubblewrap-arguments.ts";
import { type ControlGroup, type ControlGroups, limitCommands, ownLimits, type BoxLimits } from "./control-groups.ts";
import { launcher, startFile } from "./launcher.ts";
import { protectedPaths } from "./protected-paths.ts";
import { type Program, type Sandbox, Waits } from "./sandbox.ts";
import { SandboxRefused } from "./sandbox-refused.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { SystemNames } from "./system-names.ts";
import { TakenAway } from "./taken-away.ts";
import { WorkspaceUses, type EnteredWorkspace, type WorkspaceUse } from "./workspace-uses.ts";

export type BoxSettings = {
  readonly folder: string;
  readonly read: readonly string[];
  /** Paths relative to a workspace that programs may not change, in addition to those that are always protected. */
  readonly protect: readonly string[];
  readonly closed: readonly string[];
  readonly limits: BoxLimits;
  readonly controlGroups: ControlGroups | null;
};

/**
 * Starts programs in boxes, one each: bubblewrap makes namespaces and a root (`box-plan.ts`,
 * `bubblewrap-arguments.ts`), and starts the launcher (`launcher.ts`) under a filter of system calls
 * (`system-call-filter.ts`). The program's group is bubblewrap's, so that the server's guard knows it. The whole box
 * dies with its bubblewrap, including processes that left the group (`setsid`).
 */
export class BubblewrapSandbox implements Sandbox {
  readonly kind = "bubblewrap";
  readonly #groups: ProcessGroups;
  readonly #bubblewrap: Bubblewrap;
  readonly #settings: BoxSettings;
  readonly #network: Network;
  readonly #uses = new WorkspaceUses();
  readonly #running = new Set<ProcessGroup>();
  readonly #closing = new AbortController();
  readonly #root = systemRoot();
  readonly #filter = systemCallFilter(arch() === "arm64" ? "arm64" : "x64");
  readonly #inherited = inheritedDescriptors();
  readonly #names: SystemNames;
  readonly #takenAway: TakenAway;
  readonly #emptyFile: string;

  /** `network`: the server's access to the internet, for programs that may reach hosts. */
  constructor(groups: ProcessGroups, bubblewrap: Bubblewrap, settings: BoxSettings, network: Network = INTERNET) {
    this.#groups = groups;
    this.#bubblewrap = bubblewrap;
    this.#settings = settings;
    this.#network = network;
    mkdirSync(settings.folder, { recursive: true, mode: 0o700 });
    this.#names = new SystemNames(join(settings.folder, "etc"));
    this.#takenAway = new TakenAway(settings.folder);
    this.#emptyFile = join(settings.folder, "empty");
    // Read-only even for its owner.
    if (!existsSync(this.#emptyFile)) writeFileSync(this.#emptyFile, "", { mode: 0o444 });
  }

  /**
   * Removes files that programs of a stopped server left at protected paths, and their control groups. Returns notes
   * for the operator. Throws ControlGroupsRefused.
   */
  async open(folders: AnsweringFolders): Promise<readonly string[]> {
    await this.#settings.controlGroups?.open();
    return this.#takenAway.recover(folders);
  }

  async sweep(now: Date): Promise<void> {
    await this.#takenAway.sweep(now);
  }

  async start(program: Program, signal: AbortSignal, waits = new Waits()): Promise<ProcessGroup> {
    const surroundings = this.#surroundings();
    const use = await this.#enter(
      program,
      async () => boxPlan({ ...program, ...(await program.look()) }, surroundings),
      signal,
      waits,
    );
    let takeAway: () => Promise<readonly string[]> = async () => [];
    let controlGroup: ControlGroup | null = null;
    try {
      // The box is made of the files seen on entering the workspace: places that appeared since were not waited for.
      const { mounts, absent, places } = use.seen;
      this.#refuseInBackground(program, places);
      takeAway = this.#takenAway.watch({ workspace: program.workspace, absent });
      const { limits, controlGroups } = this.#settings;
      controlGroup = (await controlGroups?.make()) ?? null;
      const {
        process: child,
        end,
        ended,
        listener,
      } = await startBox(
        this.#groups,
        {
          bubblewrap: this.#bubblewrap.path,
          args: bubblewrapArguments(program, {
            mounts,
            emptyFile: this.#emptyFile,
            sharedMemory: limits.temporary,
          }),
          filter: this.#filter,
          shell: launcherShell(this.#inherited),
          launcher: launcher({
            limits: limitCommands(limits, ownLimits()),
            inherited: this.#inherited,
            portOpener: program.network === null ? null : process.execPath,
          }),
          startFile: startFile(program),
          hasNetwork: program.network !== null,
          controlGroup,
          lease: program.lease,
        },
        signal,
      );
      use.settled();
      const proxy =
        listener === null || program.network === null ? null : new CallProxy(listener, program.network, this.#network);
      const group: ProcessGroup = {
        process: child,
        end,
        ended: ended.then(async ({ notes }) => {
          proxy?.close();
          const reached = await controlGroup?.close();
          // If the folder does not answer before the server closes, the next start removes the files.
          const takenAway = (await program.answering(this.#closing.signal)) ? await takeAway() : [];
          use.leave();
          this.#running.delete(group);
          return { notes: [...notes, ...(proxy?.notes ?? []), ...(reached ?? []), ...takenAway] };
        }),
      };
      this.#running.add(group);
      return group;
    } catch (error) {
      await controlGroup?.close();
      await takeAway();
      use.leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const group of this.#running) group.end();
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  async #enter(
    program: Program,
    plan: () => Promise<BoxPlan>,
    signal: AbortSignal,
    waits: Waits,
  ): Promise<EnteredWorkspace<BoxPlan>> {
    const { followsLinks, version } = this.#bubblewrap;
    if (!followsLinks) return { ...FREE, seen: await plan() };
    if (program.isBackground) this.#refuseInBackground(program, (await plan()).places);
    const reason = `another program runs in the workspace, and bubblewrap ${version} makes no box beside it, because it follows links at protected paths: end the other program, or install bubblewrap 0.12 or later`;
    const entering = this.#uses.enter(program.workspace, plan, ({ places }) => places.length > 0, signal);
    const use = await waits.during(reason, entering);
    if (use !== null) return use;
    throw new SandboxRefused(reason);
  }

  #refuseInBackground({ isBackground, workspace }: Program, places: readonly string[]): void {
    const { followsLinks, version } = this.#bubblewrap;
    const [place] = places;
    if (!isBackground || !followsLinks || place === undefined) return;
    throw new SandboxRefused(
      `no program runs in the background here: the workspace has a protected or covered path (${relative(workspace, place)}), and bubblewrap ${version} follows links that a running program could put there: install bubblewrap 0.12 or later`,
    );
  }

  #surroundings(): BoxSurroundings {
    const { read, protect, closed, limits } = this.#settings;
    const mounts: readonly Mount[] = [
      ...this.#root,
      { kind: "read-only", source: this.#names.current(), target: "/etc" },
      { kind: "memory", bytes: limits.temporary, target: "/tmp" },
      ...read.map((path): Mount => ({ kind: "read-only", source: path, target: path })),
    ];
    return { mounts, protected: protectedPaths(protect), closed };
  }
}

const FREE: WorkspaceUse = { settled: () => {}, leave: () => {} };
