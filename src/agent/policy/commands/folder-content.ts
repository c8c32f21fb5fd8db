import { existsSync, type Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errorCode } from "../../../lib/text.ts";
import { PathRefused, type Workspace } from "../../workspace/workspace.ts";
import { hasToken, isSecretPath } from "../../workspace/secret-files.ts";
import type { PolicyBox } from "../permission.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";
import { deniesPath, type Rule } from "../rule.ts";
import {
  NAMED_SECRETS,
  type ClosedFile,
  type CommandLine,
  type FolderContent,
  type FoundSearch,
  type Missed,
} from "../../bash/command-line.ts";
import { isIgnoreFile, isLeftOut, leftOutOf, takenInAbove, takenInBy, type TakenIn } from "../../bash/git/left-out-names.ts";
import { type GitTime, isRepository, liesInRepository, trackedNames } from "../../bash/git/answer-of-git.ts";

/** The most entries that are looked at for a search; more are asked about. */
const ENTRIES = 20_000;
/** The most entries, and names that repositories track, which are looked at for all searches of a call. */
const CALL_ENTRIES = 60_000;
/** After so many entries others have their turn. */
const TURN_ENTRIES = 200;

/**
 * The values, with what lies in the folders that command lines search: the same object if nobody must know. In a box that is
 * only what repositories have kept of files that deny rules close.
 */
export async function withFolderContents(
  values: RuleValues,
  workspace: Workspace,
  deny: readonly Rule[],
  box: PolicyBox | null,
  time: GitTime,
): Promise<RuleValues> {
  const rules = deny.filter(({ deniedPath }) => deniedPath !== null);
  // Names alone are told of files with secrets, too, and not of what lies out of the workspace.
  const mustKnow = ({ history, tells, follows }: FoundSearch): boolean =>
    box === null ? tells === "contents" || follows || rules.length > 0 : history !== null && rules.length > 0;
  const searches = Object.values(values).some((list) =>
    list.some((value) => value.kind === "command" && value.line.commands.some((command) => command.searches.some(mustKnow))),
  );
  if (!searches) return values;
  const looks = new Looks(workspace, rules, time);
  const look = async (search: FoundSearch): Promise<FoundSearch> => (mustKnow(search) ? looks.look(search) : search);
  const looked: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, list] of Object.entries(values)) {
    const found: RuleValue[] = [];
    for (const value of list)
      found.push(value.kind === "command" ? { kind: "command", line: await withContents(value.line, look) } : value);
    looked[parameter] = found;
  }
  return looked;
}

/** The line, with what lies in the folders that it searches: files with secrets, and what the deny rules close. */
async function withContents(line: CommandLine, look: (search: FoundSearch) => Promise<FoundSearch>): Promise<CommandLine> {
  const commands: CommandLine["commands"][number][] = [];
  for (const command of line.commands) {
    const searches: FoundSearch[] = [];
    for (const search of command.searches) searches.push(await look(search));
    commands.push({ ...command, searches });
  }
  return { ...line, commands };
}

/** The content of folders, as one call's command lines search them: searches that are equal look once, and all share what may be looked at. */
class Looks {
  readonly #workspace: Workspace;
  readonly #closing: readonly Rule[];
  readonly #time: GitTime;
  readonly #known = new Map<string, Pick<FoundSearch, "history" | "content">>();
  /** The entries that are still looked at for the call. */
  #left = CALL_ENTRIES;
  #seen = 0;

  constructor(workspace: Workspace, closing: readonly Rule[], time: GitTime) {
    this.#time = time;
    this.#workspace = workspace;
    this.#closing = closing;
  }

  /** The search, with what lies in its folder. A file, or what is not there, has nothing in it. */
  async look(search: FoundSearch): Promise<FoundSearch> {
    const folder = search.names.at(-1) ?? ".";
    const key = JSON.stringify([folder, search.access, search.tells, search.follows, search.leavesOut, search.history === null]);
    let found = this.#known.get(key);
    if (found === undefined) {
      found = await this.#lookedThrough(search, folder);
      this.#known.set(key, found);
    }
    return { ...search, ...found };
  }

  /** Looks through a folder. A file there may take in what was passed over: then the folder is looked at again. */
  async #lookedThrough(search: FoundSearch, folder: string): Promise<Pick<FoundSearch, "history" | "content">> {
    const { root } = this.#workspace;
    let takenIn: TakenIn = new Set();
    if ((await leftOutOf(search.leavesOut, root, takenIn)).heedsFiles) takenIn = await takenInAbove(root, folder);
    for (let times = 0; ; times += 1) {
      const { takenIn: now, ...found } = await this.#walk(search, folder, takenIn);
      if (now === takenIn || (now !== null && now.size === takenIn?.size)) return found;
      takenIn = times === 0 ? now : null;
    }
  }

  async #walk(
    search: FoundSearch,
    first: string,
    takenIn: TakenIn,
  ): Promise<Pick<FoundSearch, "history" | "content"> & { readonly takenIn: TakenIn }> {
    const { root } = this.#workspace;
    const denied = new Map<string, string>();
    const tracked = new Map<string, string>();
    const secrets: string[] = [];
    const leftOut = await leftOutOf(search.leavesOut, root, takenIn);
    let now = takenIn;
    let entries = 0;
    // What lies in the repository above is out of the workspace.
    const beginsOutside = search.history !== null && !existsSync(join(root, ".git")) && liesInRepository(root);
    let missed: Missed | null = beginsOutside ? "outer repository" : null;
    // Of files that it does not track, a repository prints nothing.
    const printsAll = search.history === null || !isRepository(root);
    const folders = [first];
    const entered = new Set(folders);
    for (let folder = folders.pop(); folder !== undefined && missed === null; folder = folders.pop()) {
      for (const entry of await entriesOf(join(root, folder))) {
        entries += 1;
        if (entries > ENTRIES || !(await this.#takes())) {
          missed = "entries";
          break;
        }
        if (leftOut.heedsFiles && isIgnoreFile(entry.name)) now = await takenInBy(join(root, folder), [entry.name], now);
        // What the workspace says of its files ends at another repository.
        if (leftOut.heedsFiles && entry.name === ".git" && folder !== ".") now = null;
        if (search.history !== null && entry.name === ".git") {
          const names = await trackedNames(join(root, folder), this.#time);
          if (names === null || names.length > ENTRIES) missed ??= "tracked files";
          for (const each of missed === null ? (names ?? []) : []) {
            if (!(await this.#takes())) {
              missed = "tracked files";
              break;
            }
            const name = folder === "." ? each : `${folder}/${each}`;
            if (isSecretPath(name) && secrets.length < NAMED_SECRETS) secrets.push(name);
            for (const rule of this.#closing)
              if (!tracked.has(rule.source) && deniesPath(rule, [name], "read")) tracked.set(rule.source, name);
          }
        }
        if (isLeftOut(leftOut, { name: entry.name, isFolder: entry.isDirectory() }, takenIn)) continue;
        const name = folder === "." ? entry.name : `${folder}/${entry.name}`;
        const names = search.follows && entry.isSymbolicLink() ? namesOf(this.#workspace, name) : [name];
        if (printsAll && (isSecretPath(entry.name) || (await isConfigWithToken(root, name))) && secrets.length < NAMED_SECRETS)
          secrets.push(name);
        // A link may have another name than the secrets to which it leads.
        if (printsAll && names !== null)
          for (const real of names.slice(1)) if (isSecretPath(real) && secrets.length < NAMED_SECRETS) secrets.push(real);
        // A link that leads out of the workspace is followed where nobody looks.
        if (names === null) missed ??= "link";
        for (const rule of this.#closing)
          if (!denied.has(rule.source) && deniesPath(rule, names ?? [name], search.access)) denied.set(rule.source, name);
        const isLink = search.follows && entry.isSymbolicLink() && names !== null && names.length > 1;
        const next = entry.isDirectory() ? name : isLink ? (names.at(-1) ?? name) : null;
        // Node reads bytes that are no text as U+FFFD: what the name stands for is not found by it.
        if (entry.name.includes("\uFFFD") && (entry.isDirectory() || (search.follows && entry.isSymbolicLink())))
          missed ??= "name";
        if (next === null || entered.has(next)) continue;
        folders.push(next);
        entered.add(next);
      }
    }
    const content: FolderContent = {
      isWhole: missed === null,
      ...(missed === null ? {} : { missed }),
      secrets,
      denied: closedFiles(denied),
      // Nobody knows what commits of before have.
      clear:
        missed === null && search.history === null
          ? this.#closing.flatMap(({ source }) => (denied.has(source) ? [] : [source]))
          : [],
    };
    return { takenIn: now, history: search.history === null ? null : closedFiles(tracked), content };
  }

  /** Takes one entry from those that are looked at for the call; false if none is left. */
  async #takes(): Promise<boolean> {
    if (this.#left === 0) return false;
    this.#left -= 1;
    this.#seen += 1;
    if (this.#seen % TURN_ENTRIES === 0) await setImmediate();
    return true;
  }
}

function closedFiles(names: ReadonlyMap<string, string>): readonly ClosedFile[] {
  return [...names].map(([rule, name]) => ({ rule, name }));
}

/** True for the configuration of a repository that has a token in it. */
async function isConfigWithToken(root: string, name: string): Promise<boolean> {
  return isSecretPath(name) && hasToken(await readFile(join(root, name), "utf8").catch(() => ""));
}

function namesOf(workspace: Workspace, name: string): readonly string[] | null {
  try {
    return workspace.namesOf(name);
  } catch (error) {
    if (error instanceof PathRefused) return null;
    throw error;
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}
