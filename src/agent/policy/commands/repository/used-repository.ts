import { existsSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Workspace } from "../../../workspace/workspace.ts";
import { hasToken } from "../../../workspace/secret-files.ts";
import type { FoundCommand } from "../command-line.ts";
import type { RuleValue, RuleValues } from "../../rule-values.ts";
import { answerOfGit } from "./answer-of-git.ts";

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
export async function withUsedRepositories(values: RuleValues, { root }: Workspace, isBoxed: boolean): Promise<RuleValues> {
  const uses = ({ repository }: FoundCommand): boolean => repository !== undefined;
  const isUse = (value: RuleValue): boolean => value.kind === "command" && value.line.commands.some(uses);
  if (isBoxed || !Object.values(values).some((list) => list.some(isUse))) return values;
  const looked: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, list] of Object.entries(values)) {
    const found: RuleValue[] = [];
    for (const value of list)
      found.push(value.kind === "command" ? { ...value, line: await lookedInto(value.line, root) } : value);
    looked[parameter] = found;
  }
  return looked;
}

type Line = Extract<RuleValue, { kind: "command" }>["line"];

async function lookedInto(line: Line, root: string): Promise<Line> {
  const commands: FoundCommand[] = [];
  for (const command of line.commands) {
    const { repository } = command;
    commands.push(
      repository === undefined
        ? command
        : { ...command, repository: { ...repository, reason: await reasonOf(repository, root) } },
    );
  }
  return { ...line, commands };
}

async function reasonOf(
  { folder, entersNested, tellsSettings, reason }: NonNullable<FoundCommand["repository"]>,
  root: string,
): Promise<string | null> {
  if (reason !== null) return reason;
  if (folder === null) return "only the shell knows in which repository git works";
  const { setting, nested, secret, outside } = await lookAt(join(root, folder), root);
  if (outside !== null) return `the repository reads ${outside}, which is out of the workspace`;
  if (setting !== null) return `the repository has ${setting}, by which git may run a program`;
  if (tellsSettings && secret !== null) return `it tells ${secret}, which has a token in it`;
  if (!entersNested || nested === null) return null;
  return `the repository records another one (${nested}), in which git may run a program: with --ignore-submodules=all it does not look there`;
}

/** What the repository of a folder may run. A folder in no repository runs nothing. */
async function lookAt(folder: string, root: string): Promise<RepositoryLook> {
  const places = await answerOfGit(folder, ["rev-parse", "--git-common-dir", "--absolute-git-dir"]);
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
  const settings = await answerOfGit(folder, ["config", "--local", "--no-includes", "--list", "-z"]);
  const index = await answerOfGit(folder, ["ls-files", "--stage", "--sparse", "-z", "--", ":/"]);
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
  const folders = [common, objects, join(objects, "pack"), join(objects, "info"), join(common, "refs")];
  for (const folder of folders) {
    if (!(await isInside(folder)) && (await version(folder)) !== "none") return folder;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isSymbolicLink() && !(await isInside(join(folder, entry.name)))) return join(folder, entry.name);
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
