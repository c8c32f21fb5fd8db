import { existsSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Workspace } from "../../workspace/workspace.ts";
import { hasToken } from "../../workspace/secret-files.ts";
import type { FoundCommand } from "../../bash/command-line.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";
import { answerOfGit, type GitTime } from "../../bash/git/answer-of-git.ts";

/**
 * Settings of a repository by which git runs nothing and reads no other file. Whatever else its configuration says (filters,
 * external differs, aliases, includes, a promised remote) may run a program, also by a command that only reads.
 */
const HARMLESS_SETTINGS = [
  /^core\.(?:repositoryformatversion|filemode|bare|fsmonitor|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|safecrlf|eol|quotepath|abbrev|compression|untrackedcache|preloadindex|longpaths|whitespace|commentchar)$/,
  /^extensions\.objectformat$/,
  /^(?:remote\..*\.(?:url|pushurl|fetch|push|tagopt|prune|mirror)|branch\..*\.(?:remote|pushremote|merge|rebase|description))$/,
  /^(?:user|author|committer)\.(?:name|email)$/,
  /^(?:color|advice|column|gc|pack|feature|index|init|push|pull|fetch|rebase|rerere|i18n)\.[^.]*$/,
  /^merge\.(?:ff|conflictstyle|log)$/,
  /^status\.(?:short|branch|showuntrackedfiles|relativepaths|aheadbehind|renames)$/,
  /^submodule\..*\.(?:url|active|branch|path|ignore)$/,
  /^diff\.(?:renames|renamelimit|algorithm|colormoved|context|mnemonicprefix|noprefix|statgraphwidth|wserrorhighlight|ignoresubmodules)$/,
  /^log\.(?:date|decorate|abbrevcommit|follow)$/,
  /^http(?:\..*)?\.(?:extraheader|postbuffer|sslverify|proxy)$/,
  /^lfs\.(?:url|repositoryformatversion|locksverify|.*\.(?:access|locksverify))$/,
];
/** The most repositories whose look is kept. */
const KEPT = 200;

/**
 * What a repository may run: a setting that is not known to be harmless, and the first repository that its index records; a setting
 * that has a secret in it; and what it reads out of the workspace.
 */
type RepositoryLook = {
  readonly setting: string | null;
  readonly nested: string | null;
  readonly secret: string | null;
  readonly outside: string | null;
};

const UNKNOWN: RepositoryLook = { setting: "settings that git does not tell", nested: null, secret: null, outside: null };

/** Looks by the configuration and index that they saw: those are looked at again once they have changed. */
const looks = new Map<string, { readonly seen: string; readonly look: RepositoryLook }>();

/**
 * The values, with the reason for which a command of git that would otherwise run since it only reads is asked about: its
 * repository may make git run a program. The same object if there is no such command. In a box nobody looks: programs run there.
 */
export async function withUsedRepositories(
  values: RuleValues,
  { root }: Workspace,
  isBoxed: boolean,
  time: GitTime,
): Promise<RuleValues> {
  const uses = ({ repository }: FoundCommand): boolean => repository !== undefined;
  const isUse = (value: RuleValue): boolean => value.kind === "command" && value.line.commands.some(uses);
  if (isBoxed || !Object.values(values).some((list) => list.some(isUse))) return values;
  const looked: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, list] of Object.entries(values)) {
    const found: RuleValue[] = [];
    for (const value of list)
      found.push(value.kind === "command" ? { ...value, line: await lookedInto(value.line, root, time) } : value);
    looked[parameter] = found;
  }
  return looked;
}

type Line = Extract<RuleValue, { kind: "command" }>["line"];

async function lookedInto(line: Line, root: string, time: GitTime): Promise<Line> {
  const commands: FoundCommand[] = [];
  for (const command of line.commands) {
    const { repository } = command;
    commands.push(
      repository === undefined
        ? command
        : { ...command, repository: { ...repository, reason: await reasonOf(repository, root, time) } },
    );
  }
  return { ...line, commands };
}

async function reasonOf(
  { folder, entersNested, tellsSettings, reason }: NonNullable<FoundCommand["repository"]>,
  root: string,
  time: GitTime,
): Promise<string | null> {
  if (reason !== null) return reason;
  if (folder === null) return "only the shell knows in which repository git works";
  const { setting, nested, secret, outside } = await lookAt(join(root, folder), root, time);
  if (outside !== null) return `the repository may read more than it has, by ${outside}`;
  if (setting !== null) return `the repository has ${setting}, by which git may run a program`;
  if (tellsSettings && secret !== null) return `it tells ${secret}, which has a token in it`;
  if (!entersNested || nested === null) return null;
  return `the repository records another one (${nested}), in which git may run a program: with --ignore-submodules=all it does not look there`;
}

/** What the repository of a folder may run. A folder in no repository runs nothing. */
async function lookAt(folder: string, root: string, time: GitTime): Promise<RepositoryLook> {
  const places = await answerOfGit(folder, ["rev-parse", "--git-common-dir", "--absolute-git-dir"], time);
  if (places === "refused") return { setting: null, nested: null, secret: null, outside: null };
  if (places === "unknown") return UNKNOWN;
  const [shared, own, ...more] = places.text.replace(/\n$/, "").split("\n");
  // A line more is of a name with a line feed.
  if (shared === undefined || own === undefined || more.length > 0) return UNKNOWN;
  const common = resolve(folder, shared);
  const outside = await outsideOf({ root, folder, common, own });
  if (outside !== null) return { setting: null, nested: null, secret: null, outside };
  const hook = await version(join(common, "hooks/post-index-change"));
  if (hook !== "none") return { setting: "the hook post-index-change", nested: null, secret: null, outside: null };
  const config = await version(join(common, "config"));
  if (config === "none") return UNKNOWN;
  const seen = `${config},${await version(join(own, "index"))}`;
  const key = `${folder}\0${own}`;
  const known = looks.get(key);
  if (known?.seen === seen) return known.look;
  const settings = await answerOfGit(folder, ["config", "--local", "--no-includes", "--list", "-z"], time);
  const index = await answerOfGit(folder, ["ls-files", "--stage", "--sparse", "-z", "--", ":/"], time);
  if (typeof settings === "string" || typeof index === "string") return UNKNOWN;
  // Each is a name, a line feed and a value; one without a value is a name alone.
  const pairs = settings.text.split("\0").map((pair): readonly [string, string] => {
    const [name = "", ...value] = pair.split("\n");
    return [name, value.join("\n")];
  });
  const isKnown = (name: string): boolean => name === "" || HARMLESS_SETTINGS.some((harmless) => harmless.test(name));
  const look = {
    setting: foundSetting(pairs.find(([name]) => !isKnown(name))?.[0]),
    nested: nestedIn(index.text),
    secret: pairs.find(([name, value]) => hasToken(`${name} ${value}`))?.[0] ?? null,
    outside: null,
  };
  looks.delete(key);
  looks.set(key, { seen, look });
  for (const oldest of looks.size > KEPT ? [...looks.keys()].slice(0, looks.size - KEPT) : []) looks.delete(oldest);
  return look;
}

function foundSetting(name: string | undefined): string | null {
  return name === undefined ? null : `${name} in its configuration`;
}

type Places = { readonly root: string; readonly folder: string; readonly common: string; readonly own: string };

/**
 * What a repository reads out of the workspace; null for nothing. Two are none of it, since nothing in the workspace says so: a
 * repository around it, and one elsewhere that knows the workspace, or a folder in it, as its worktree.
 */
async function outsideOf({ root, folder, common, own }: Places): Promise<string | null> {
  const isInside = async (path: string): Promise<boolean> => {
    const real = await realpath(path).catch(() => null);
    return real !== null && !relative(root, real).startsWith("..");
  };
  const text = (path: string): Promise<string | null> => readFile(path, "utf8").catch(() => null);
  if (!(await isInside(own))) {
    if (!namesRepository(folder, root)) return null;
    const worktree = await text(join(own, "gitdir"));
    return worktree !== null && (await isInside(worktree.trimEnd())) ? null : own;
  }
  const objects = join(common, "objects");
  if ((await text(join(objects, "info/alternates"))) !== null) return "objects of another repository";
  for (const folder of new Set([common, own])) {
    if (!(await isInside(folder))) return folder;
    const link = await linkIn(folder);
    if (link !== null) return link;
  }
  return null;
}

/** The most entries of a repository that are looked at. */
const MOST_ENTRIES = 100_000;

/** The first link in a repository's own folder: git follows each, and prints lines of what it leads to as errors. Null for none. */
async function linkIn(repository: string): Promise<string | null> {
  const folders = [repository];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      entries += 1;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink() || entries > MOST_ENTRIES) return path;
      if (entry.isDirectory()) folders.push(path);
    }
  return null;
}

/** True if there is a `.git` in a folder or above it, up to the root of the workspace. */
function namesRepository(folder: string, root: string): boolean {
  const steps = relative(root, folder).split(sep);
  return [root, ...steps.map((_step, index) => join(root, ...steps.slice(0, index + 1)))].some((each) =>
    existsSync(join(each, ".git")),
  );
}

/** The first entry of mode 160000. */
function nestedIn(index: string): string | null {
  const [, name = null] = /(?:^|\0)160000 [0-9a-f]+ \d\t([^\0]*)/.exec(index) ?? [];
  return name;
}

/** Changes with each change of a file. */
async function version(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? "none" : `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
}
