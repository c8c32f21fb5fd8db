import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Workspace } from "../../../workspace/workspace.ts";
import type { FoundCommand } from "../command-line.ts";
import type { RuleValue, RuleValues } from "../../rule-values.ts";

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
  /^lfs\..*$/,
];
/** An address with a token or a password in it. */
const SECRET_URL = /^https?:\/\/[^/@]+@|:\/\/[^/@:]+:[^/@]+@/i;
/** The most that git may say of a repository, in bytes, and the longest that it may take, in ms. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_MS = 5_000;
/** The most repositories whose look is kept. */
const KEPT = 200;

/** What a repository may run: a setting that is not known to be harmless, and the first repository that its index records; and a setting that has a secret in it. */
type RepositoryLook = { readonly setting: string | null; readonly nested: string | null; readonly secret: string | null };

const UNKNOWN: RepositoryLook = { setting: "settings that git does not tell", nested: null, secret: null };

const run = promisify(execFile);
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
  { folder, entersNested, tellsSettings }: NonNullable<FoundCommand["repository"]>,
  root: string,
): Promise<string | null> {
  if (folder === null) return "only the shell knows in which repository git works";
  const { setting, nested, secret } = await lookAt(join(root, folder));
  if (setting !== null) return `the repository's configuration has ${setting}, by which git may run a program`;
  if (tellsSettings && secret !== null) return `it tells ${secret}, which has a token in it`;
  if (!entersNested || nested === null) return null;
  return `the repository records another one (${nested}), in which git may run a program: with --ignore-submodules=all it does not look there`;
}

/** What the repository of a folder may run. A folder in no repository runs nothing. */
async function lookAt(folder: string): Promise<RepositoryLook> {
  const places = await answer(folder, ["rev-parse", "--git-common-dir", "--git-dir"]);
  if (places === "refused") return { setting: null, nested: null, secret: null };
  if (places === "unknown") return UNKNOWN;
  const [common = ".git", own = ".git"] = places.text.trimEnd().split("\n");
  const seen = (
    await Promise.all([join(common, "config"), join(own, "index")].map((name) => version(resolve(folder, name))))
  ).join();
  const key = `${folder}\0${own}`;
  const known = looks.get(key);
  if (known?.seen === seen) return known.look;
  const settings = await answer(folder, ["config", "--local", "--no-includes", "--list", "-z"]);
  const index = await answer(folder, ["ls-files", "--stage", "--sparse", "-z"]);
  if (typeof settings === "string" || typeof index === "string") return UNKNOWN;
  // Each is a name, a line feed and a value; one without a value is a name alone.
  const pairs = settings.text.split("\0").map((pair): readonly [string, string] => {
    const [name = "", ...value] = pair.split("\n");
    return [name, value.join("\n")];
  });
  const isKnown = (name: string): boolean => name === "" || HARMLESS_SETTINGS.some((harmless) => harmless.test(name));
  const look = {
    setting: pairs.find(([name]) => !isKnown(name))?.[0] ?? null,
    nested: nestedIn(index.text),
    secret: pairs.find(([name, value]) => name.endsWith(".extraheader") || SECRET_URL.test(value))?.[0] ?? null,
  };
  looks.delete(key);
  looks.set(key, { seen, look });
  for (const oldest of looks.size > KEPT ? [...looks.keys()].slice(0, looks.size - KEPT) : []) looks.delete(oldest);
  return look;
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

/** What git says; `refused` also where there is no git, no repository or no such folder. */
type Answer = { readonly text: string } | "refused" | "unknown";

/**
 * The answer of a command of git that runs nothing: without hooks of the file system, without the machine's own configurations,
 * and without fetching what a partial clone lacks.
 */
async function answer(folder: string, args: readonly string[]): Promise<Answer> {
  const settings = ["safe.directory=*", "safe.bareRepository=explicit", "core.fsmonitor=false"].flatMap((each) => ["-c", each]);
  try {
    const { stdout } = await run("git", [...settings, ...args], {
      cwd: folder,
      maxBuffer: MOST_BYTES,
      timeout: MOST_MS,
      env: {
        PATH: process.env["PATH"],
        HOME: "/nonexistent",
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_LAZY_FETCH: "1",
        GIT_ALLOW_PROTOCOL: "",
      },
    });
    return { text: stdout };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    return code === 128 || code === "ENOENT" || code === "ENOTDIR" ? "refused" : "unknown";
  }
}
