import { dirname, relative, resolve } from "node:path";
import { isInside } from "../../../lib/path-inside.ts";
import { msSince } from "../../../lib/time.ts";
import type { HostRule } from "../../policy/hosts/host-rule.ts";
import { presentFolder, type FinishedProgram, type StartOptions } from "../../tools/programs.ts";
import type { AnsweringFolders } from "../../workspace/answering-folders.ts";
import type { Homes } from "../../workspace/homes.ts";
import type { GroupedProcess, ProcessGroup, ProgramLease } from "../../workspace/process-groups.ts";
import { programPath } from "../../workspace/program-path.ts";
import type { CoveredPaths, CoverRule, FoundInWorkspace } from "../../workspace/sandbox/covered-paths.ts";
import type { Program, Sandbox, Waits } from "../../workspace/sandbox/sandbox.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CallOutput } from "./call-output.ts";
import { untilEnd } from "./until-end.ts";

export type ProgramServices = {
  readonly homes: Homes;
  readonly coveredPaths: CoveredPaths;
  readonly folders: AnsweringFolders;
  /** The hosts that sandboxed programs reach without a question; null if they have no network. */
  readonly listedHosts: readonly HostRule[] | null;
};

/** The agent whose program it is, its workspace as its tools are given it, and the sandbox that its template asks for. */
export type ProgramPlace = {
  readonly agentId: string;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly coverRule: () => Promise<CoverRule>;
  /** True if a program may reach a host at present. If a person may allow it, a question is asked. */
  readonly mayReach: (host: string, port: number) => Promise<boolean>;
  readonly waits: Waits;
  readonly lease: ProgramLease;
};

/**
 * Settings of git for programs. Git obeys a bare repository's configuration only if the command names its folder. It
 * runs no file monitor that a repository names, and writes names without quoting.
 */
const OF_GIT = {
  GIT_CONFIG_COUNT: "3",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
  GIT_CONFIG_KEY_2: "core.quotePath",
  GIT_CONFIG_VALUE_2: "false",
};

const NOTHING_FOUND: FoundInWorkspace = { covered: [], repositories: [] };

/** Starts a program of an agent, with its own HOME and none of the server's secrets. */
export async function startProgram(
  { homes, coveredPaths, folders, listedHosts }: ProgramServices,
  { agentId, workspace, sandbox, coverRule, mayReach, waits, lease }: ProgramPlace,
  argv: readonly [file: string, ...args: string[]],
  { folder, env, isBackground }: StartOptions & { readonly isBackground: boolean },
  signal: AbortSignal,
): Promise<ProcessGroup> {
  const { path: home, notes: ofHome } = await homes.of(agentId);
  let found: FoundInWorkspace = NOTHING_FOUND;
  const program: Program = {
    argv,
    folder: await presentFolder(workspace, folder ?? "."),
    env: { ...programEnvironment(), HOME: home, ...env },
    workspace: workspace.root,
    home,
    look: async () => (found = await coveredPaths.find(workspace.root, await coverRule(), signal)),
    network: sandbox.kind === "none" || listedHosts === null ? null : mayReach,
    isBackground,
    lease,
    answering: (ending) => folders.answering(workspace.root, ending),
  };
  const group = await sandbox.start(program, signal, waits);
  const said = [...ofHome, ...coveredNotes({ ...program, ...found })];
  return { ...group, ended: group.ended.then(({ notes }) => ({ notes: [...said, ...notes] })) };
}

/** The environment variables that a program needs, without possible secrets (invariant 11). */
export function programEnvironment(): Record<string, string> {
  const names = ["LANG", "TZ"];
  const others = names.flatMap((name): readonly [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { PATH: programPath(), ...OF_GIT, ...Object.fromEntries(others) };
}

/** The programs of one call. They and their descendants are killed when the call ends. */
export class CallPrograms {
  readonly #services: ProgramServices;
  readonly #place: ProgramPlace;
  readonly #ended: AbortSignal;
  readonly #output: CallOutput;
  readonly #groups = new Map<GroupedProcess, ProcessGroup>();

  constructor(services: ProgramServices, place: ProgramPlace, ended: AbortSignal, output: CallOutput) {
    this.#services = services;
    this.#place = place;
    this.#ended = ended;
    this.#output = output;
  }

  async start(file: string, args: readonly string[], options: StartOptions = {}): Promise<GroupedProcess> {
    this.#requireOpen();
    const group = await startProgram(
      this.#services,
      this.#place,
      [file, ...args],
      { ...options, isBackground: false },
      this.#ended,
    );
    if (this.#ended.aborted) group.end();
    this.#requireOpen();
    this.#ended.addEventListener("abort", () => group.end(), { once: true });
    this.#groups.set(group.process, group);
    return group.process;
  }

  async finish(program: GroupedProcess): Promise<FinishedProgram> {
    const group = this.#groups.get(program);
    if (group === undefined) throw new Error("finish() takes a program that this call started, once");
    this.#groups.delete(program);
    const began = performance.now();
    const output = this.#output.begin();
    const { code, signal, notes } = await untilEnd(group, (chunk) => this.#output.take(output, chunk));
    const { text, isText } = this.#output.end(output);
    const ofOutput = isText ? [] : ["bytes of the output that are no UTF-8 are shown as \uFFFD"];
    const allNotes = [...notes, ...ofOutput];
    return { code, signal, durationMs: msSince(began), output: text, outputBytes: output.bytes, notes: allNotes };
  }

  #requireOpen(): void {
    if (this.#ended.aborted) throw new Error("the call has ended: nothing more is started for it");
  }
}

/** The most files that are named. `CHARACTERS` of the arguments are scanned. */
const MOST_NAMED = 5;
const MOST_CHARACTERS = 32 * 1024;

const BETWEEN = /[\s"'`;|&<>(){}=,:]+/;

/**
 * Notes for the model about covered files in a program's arguments: without a note such a file looks empty. Words are
 * taken literally, without patterns, variables or links.
 */
export function coveredNotes({
  argv,
  workspace,
  folder,
  covered,
}: Pick<Program, "argv" | "workspace" | "folder"> & Pick<FoundInWorkspace, "covered">): readonly string[] {
  if (covered.length === 0) return [];
  const places = new Set(covered);
  const named = new Set<string>();
  let from = folder;
  let before = "";
  for (const word of argv.join(" ").slice(0, MOST_CHARACTERS).split(BETWEEN)) {
    const path = resolve(from, word);
    const place = coveredPlace(places, workspace, path);
    if (place !== null) named.add(place);
    if (before === "cd") from = path;
    before = word;
  }
  const notes = [...named].map((place) => `${relative(workspace, place)} is covered in the box: programs see it empty`);
  const more = notes.length - MOST_NAMED;
  if (more <= 0) return notes;
  return [...notes.slice(0, MOST_NAMED), `${more} more files that the command names are covered in the box`];
}

function coveredPlace(places: ReadonlySet<string>, workspace: string, path: string): string | null {
  for (let place = path; place !== workspace && isInside(workspace, place); place = dirname(place))
    if (places.has(place)) return place;
  return null;
}
