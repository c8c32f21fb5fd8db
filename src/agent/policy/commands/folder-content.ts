import { existsSync, type Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errorCode } from "../../../lib/error-code.ts";
import { PathRefused } from "../../workspace/path-refused.ts";
import { isSecretPath } from "../../workspace/secret-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { PolicyBox } from "../permission.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";
import { deniesPath, type Rule } from "../rule.ts";
import type { ClosedFile, CommandLine, FolderContent, FoundSearch } from "./command-line.ts";
import { liesInRepository, trackedNames } from "./repository/tracked-names.ts";

/** The most entries that are looked at; more are asked about. */
const ENTRIES = 20_000;
/** After so many entries others have their turn. */
const TURN_ENTRIES = 200;
/** The most secret files that are named. */
const NAMED = 5;

/**
 * The values, with what lies in the folders that command lines search: the same object if nobody must know. In a box that is
 * only what repositories have kept of files that deny rules close.
 */
export async function withFolderContents(
  values: RuleValues,
  workspace: Workspace,
  deny: readonly Rule[],
  box: PolicyBox | null,
): Promise<RuleValues> {
  const rules = deny.filter(({ deniedPath }) => deniedPath !== null);
  const mustKnow = ({ history }: FoundSearch): boolean => box === null || (history !== null && rules.length > 0);
  const searches = Object.values(values).some((list) =>
    list.some((value) => value.kind === "command" && value.line.commands.some((command) => command.searches.some(mustKnow))),
  );
  if (!searches) return values;
  const look = async (search: FoundSearch): Promise<FoundSearch> =>
    mustKnow(search) ? lookedThrough(search, workspace, rules) : search;
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

/** The search, with what lies in its folder. A file, or what is not there, has nothing in it. */
async function lookedThrough(search: FoundSearch, workspace: Workspace, closing: readonly Rule[]): Promise<FoundSearch> {
  const denied = new Map<string, string>();
  const tracked = new Map<string, string>();
  const secrets: string[] = [];
  const left = await leftOutNames(search, workspace);
  let entries = 0;
  // What lies in the repository above is out of the workspace.
  let isWhole = search.history === null || existsSync(join(workspace.root, ".git")) || !liesInRepository(workspace.root);
  const folders = [search.names.at(-1) ?? "."];
  for (let folder = folders.pop(); folder !== undefined && isWhole; folder = folders.pop()) {
    for (const entry of await entriesOf(join(workspace.root, folder))) {
      entries += 1;
      if (entries > ENTRIES) {
        isWhole = false;
        break;
      }
      if (entries % TURN_ENTRIES === 0) await setImmediate();
      if (search.history !== null && entry.name === ".git") {
        const names = await trackedNames(join(workspace.root, folder));
        if (names === null || names.length > ENTRIES) isWhole = false;
        for (const each of names ?? []) {
          const name = folder === "." ? each : `${folder}/${each}`;
          if (isSecretPath(name) && secrets.length < NAMED) secrets.push(name);
          for (const rule of closing)
            if (!tracked.has(rule.source) && deniesPath(rule, [name], "read")) tracked.set(rule.source, name);
        }
      }
      if (left.has(entry.name) || (left.has("hidden") && entry.name.startsWith("."))) continue;
      const name = folder === "." ? entry.name : `${folder}/${entry.name}`;
      if (isSecretPath(entry.name) && secrets.length < NAMED) secrets.push(name);
      const names = search.follows && entry.isSymbolicLink() ? namesOf(workspace, name) : [name];
      // A link that leads out of the workspace is followed where nobody looks.
      if (names === null) isWhole = false;
      for (const rule of closing)
        if (!denied.has(rule.source) && deniesPath(rule, names ?? [name], search.access)) denied.set(rule.source, name);
      if (entry.isDirectory()) folders.push(name);
      else if (search.follows && entry.isSymbolicLink() && names !== null && names.length > 1) folders.push(names.at(-1) ?? name);
    }
  }
  const content: FolderContent = {
    isWhole,
    secrets,
    denied: closedFiles(denied),
    // Nobody knows what commits of before have.
    clear: isWhole && search.history === null ? closing.flatMap(({ source }) => (denied.has(source) ? [] : [source])) : [],
  };
  return { ...search, history: search.history === null ? null : closedFiles(tracked), content };
}

function closedFiles(names: ReadonlyMap<string, string>): readonly ClosedFile[] {
  return [...names].map(([rule, name]) => ({ rule, name }));
}

/** The names that the search passes over; `hidden` stands for all that begin with a dot. */
async function leftOutNames({ leavesOut }: FoundSearch, workspace: Workspace): Promise<ReadonlySet<string>> {
  const names = new Set(leavesOut);
  // Only the plainest line of a .gitignore counts.
  if (names.delete("ignored") && /^\/?node_modules\/?$/m.test(await ignored(workspace))) names.add("node_modules");
  return names;
}

async function ignored({ root }: Workspace): Promise<string> {
  try {
    return await readFile(join(root, ".gitignore"), "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "EISDIR"].includes(errorCode(error) ?? "")) return "";
    throw error;
  }
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
