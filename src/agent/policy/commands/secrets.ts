import {
  NAMED_SECRETS,
  type FoundCommand,
  type FoundFile,
  type FoundSearch,
  type Missed,
  type Trouble,
} from "../../bash/command-line.ts";
import { isSecretPath } from "../../workspace/secret-files.ts";
import type { Access } from "../../workspace/workspace.ts";
import type { Permission } from "../permission.ts";
import type { NamedLine } from "../rule-values.ts";
import { opensFile, pathRules, readingRules } from "../rule.ts";

/** The part of a command for which every template asks unless an allow rule names it: a file with secrets, or a path out of the workspace. */
export function sensitivePart(permission: Permission, command: FoundCommand): Trouble | null {
  const secret = closedSecret(permission, command);
  if (secret !== undefined)
    return { ...secret, reason: `${secret.names.at(-1)} mostly holds secrets, and no allow rule names it` };
  const search = closedSearch(permission, command);
  return search === undefined ? command.outside : { ...search, reason: searchReason(permission, search) };
}

/** The first file with secrets that a command names and no allow rule opens. */
export function closedSecret(permission: Permission, { files, words }: FoundCommand): FoundFile | undefined {
  const givesName = words.some(({ text }) => GIVES_NAME.has(text));
  return files.find((file) => {
    const needed = file.access === "write" && !(givesName && !file.isRedirect) ? (["write"] as const) : NEEDS[file.access];
    return isSecretFile(file) && !isOpened(permission, file.names, needed);
  });
}

/** The first search of a command that may come upon a file with secrets which no allow rule opens. */
export function closedSearch(permission: Permission, { searches }: FoundCommand): FoundSearch | undefined {
  return searches.find((search) => {
    if (isOpenSearch(search)) return false;
    const { content, access } = search;
    // Of more files only the first are known.
    const isKnown = content !== null && content.isWhole && content.secrets.length < NAMED_SECRETS;
    return !isKnown || !content.secrets.every((name) => isOpened(permission, [name], NEEDS[access]));
  });
}

/** Why a search is asked about. */
export function searchReason(permission: Permission, { content, names, access, tells }: FoundSearch): string {
  const folder = names.at(-1) === "." ? "the workspace" : names.at(-1);
  const secrets = tells === "names" ? [] : (content?.secrets ?? []);
  const secret = secrets.find((name) => !isOpened(permission, [name], NEEDS[access]));
  if (content === null) return `nobody has looked at what lies in ${folder}`;
  if (secret !== undefined) return `${secret}, which lies in ${folder}, mostly holds secrets`;
  return missedReason(content.missed, folder ?? "the folder");
}

function missedReason(missed: Missed | undefined, folder: string): string {
  switch (missed) {
    case "entries":
      return `${folder} has more entries than are looked at`;
    case "link":
      return `${folder} has a link that leads out of the workspace`;
    case "name":
      return `${folder} has a folder whose name is not UTF-8`;
    case "outer repository":
      return "the repository begins outside of the workspace";
    case "tracked files":
      return `a repository in ${folder} tracks more files than are looked at, or does not say which`;
    case undefined:
      return `not all of ${folder} was looked at`;
  }
}

/** True if an allow rule lets the file be written. */
export function mayWrite({ allow }: Permission, names: readonly string[]): boolean {
  return pathRules(allow).some((rule) => rule.deniedPath?.mayWrite === true && names.every(rule.deniedPath.isMatch));
}

export function isSecretFile({ names }: FoundFile): boolean {
  return names.some(isSecretPath);
}

/** True if the table proves of all command lines of a call that they only read: files of the workspace, and none with secrets. */
export function onlyReads(lines: readonly NamedLine[]): boolean {
  return lines.every(
    ({ line: { trouble, hidden, commands } }) => trouble === null && hidden === null && commands.every(isReading),
  );
}

function isReading({ isWhole, effect, trouble, barrier, outside, files, searches }: FoundCommand): boolean {
  const isProven = isWhole && effect === "reads" && trouble === null && barrier === null && outside === null;
  return isProven && files.every((file) => file.access === "read" && !isSecretFile(file)) && searches.every(isOpenSearch);
}

/** True if nothing that a search comes upon holds secrets. Names of the workspace are none, and links may lead to others. */
function isOpenSearch({ content, tells, follows }: FoundSearch): boolean {
  if (tells === "names" && !follows) return true;
  return content !== null && content.isWhole && (tells === "names" || content.secrets.length === 0);
}

/** The accesses for which allow rules must name a file with secrets, in the folder of a search: a changed file may have been moved. */
const NEEDS: Readonly<Record<Access, readonly Access[]>> = { read: ["read"], write: ["read", "write"] };
/** Commands that give a file another name, under which it can be read. */
const GIVES_NAME: ReadonlySet<string> = new Set(["mv", "cp"]);

/** True if allow rules name a file for these accesses by its path. */
function isOpened(permission: Permission, names: readonly string[], accesses: readonly Access[]): boolean {
  return accesses.every((access) =>
    access === "read" ? opensFile(readingRules(permission.allow), names) : mayWrite(permission, names),
  );
}
