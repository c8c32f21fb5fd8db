import { basename, dirname, isAbsolute } from "node:path";
import { isSecretPath } from "../../workspace/secret-files.ts";
import type { FoundSearch, FoundWord, Trouble } from "./command-line.ts";
import { readWords, type CommandForm, type ReadWord, type WordUse } from "./command-form.ts";
import type { Gathered } from "./operand-files.ts";
import { isDateFormat, isHarmlessAwk, isHarmlessJq, isHarmlessPrintf, isHarmlessSed } from "./script-forms.ts";
import { optionsOf, type ShellWord } from "./shell-word.ts";
import type { Known } from "./table.ts";
import { whyNamed } from "./why-named.ts";

/** Why a file with secrets must be named, if no allow rule names it by its path. */
export const SECRET_OPERAND = "the file mostly holds secrets";

/** The words of a command, and why the table does not prove it; null if it does. */
export type JudgedWords = { readonly words: readonly FoundWord[]; readonly trouble: Trouble | null };

/** The way in which a command searches. */
type Search = Pick<FoundSearch, "tells" | "follows" | "leavesOut" | "history">;

/** The words of a command that are judged together: its name, its search, and the folders from which its links are read. */
type Reading = {
  readonly name: string;
  readonly gathered: Gathered;
  readonly search: Search | null;
  /** True if the command reads so many bytes of each file and no more. */
  readonly isBounded: boolean;
  /** The folders from which what an operand names is read as a link; null if operands are not linked. */
  readonly linkedFrom: readonly string[] | null;
};

/** Judges the words of a command that the table knows, and gathers the files that they name. */
export function knownWords({ form, name, named, before, words }: Known, gathered: Gathered): JudgedWords {
  const judged: FoundWord[] = named.slice(0, 1).map(harmless);
  let trouble: Trouble | null = null;
  const judge = (word: ShellWord, reason: string | null, more: string | null, mustBeNamed = reason ?? more): void => {
    judged.push({ text: word.text, isOpen: word.open !== null, mustBeNamed });
    if (reason !== null) trouble ??= { start: word.start, end: word.end, reason };
  };
  if (before !== null)
    for (const read of readWords(before.form, "git", before.words).words) {
      const isFolder = read.kind === "used" && read.use === "folder";
      judge(read.word, read.kind === "not harmless" ? read.reason : isFolder ? gathered.enter(read.text, read.word) : null, null);
    }
  judged.push(...named.slice(1).map(harmless));

  const { words: read, options } = readWords(form, name, words);
  const isOfRepository = named[0]?.text === "git";
  const search = takesNoFolder(form, read, gathered)
    ? null
    : searchOf(form, read, options, { isOfRepository, isShow: name === "git show" });
  const folder = form.putsIntoFolder && !options.has("-T") ? folderOf(form, read, gathered) : null;
  const isBounded = name === "head" && readsFewBytes(words.map(({ text }) => text));
  const reading = { name, gathered, search, isBounded, linkedFrom: linkFolders(form, read, options, folder) };
  for (const word of read) {
    const files = gathered.files.length;
    const [own, inFolder] = [reasonOf(word, reading), reasonInFolder(word, folder, reading)];
    const reason = own ?? inFolder;
    const isSecret = gathered.files.slice(files).some(({ names }) => names.some(isSecretPath));
    const more = isSecret
      ? SECRET_OPERAND
      : word.kind === "option" && widens(form, word.word)
        ? "it changes more than is named"
        : null;
    judge(word.word, reason, more, word.kind === "unexpected" ? whyNamed(word.word, gathered.place) : (reason ?? more));
  }
  // A search without a folder looks where it stands, and one of a repository in all of it.
  const looks = read.some((word) => word.kind === "used" && word.isOperand && isPath(word.use));
  if (search !== null && (!looks || isOfRepository) && named[0] !== undefined) gathered.addRoot(named[0], search);
  return { words: judged, trouble };
}

/** The most bytes of a device that are read unasked. */
const FEW_BYTES = 16 * 1024 * 1024;

/** True if the options of head are a number of bytes, and nothing that it would count in its place. */
function readsFewBytes(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const options = (end === -1 ? words : words.slice(0, end)).join(" ");
  const counts = [...` ${options}`.matchAll(/ (?:-c ?|--bytes[= ])(\d+)(?= |$)/g)].map(([, count]) => Number(count));
  const others = ` ${options}`.replaceAll(/ (?:-c ?|--bytes[= ])\d+(?= |$)/g, "");
  return (
    counts.length > 0 &&
    counts.every((count) => count <= FEW_BYTES) &&
    !/ -(?!q\b|v\b|-quiet\b|-silent\b|-verbose\b)./.test(others)
  );
}

function harmless({ text }: ShellWord): FoundWord {
  return { text, isOpen: false, mustBeNamed: null };
}

/** A folder that takes operands in: the last of them, if it is one, and where the command works for a link without a name. */
type TakingFolder = { readonly text: string; readonly operand: ReadWord | null; readonly isCertain: boolean };

function folderOf({ linksByText }: CommandForm, read: readonly ReadWord[], gathered: Gathered): TakingFolder | null {
  const operands = operandsOf(read);
  const last = operands.at(-1);
  if (last === undefined) return null;
  if (operands.length === 1) return linksByText ? { text: ".", operand: null, isCertain: true } : null;
  return gathered.isFolder(last.text)
    ? { text: last.text, operand: last, isCertain: gathered.place.changes === "nothing" }
    : null;
}

/** True if a command that puts operands elsewhere is given files only. */
function takesNoFolder({ putsIntoFolder, linksByText }: CommandForm, read: readonly ReadWord[], gathered: Gathered): boolean {
  const operands = operandsOf(read);
  const taken = operands.length > 1 ? operands.slice(0, -1) : operands;
  return putsIntoFolder && !linksByText && !taken.some(({ text }) => gathered.isFolder(text));
}

function operandsOf(read: readonly ReadWord[]): readonly (ReadWord & { readonly kind: "used" })[] {
  return read.flatMap((word) => (word.kind === "used" && word.isOperand ? [word] : []));
}

/**
 * The folders from which programs read what a command links: where it works, or the folder of the link, if the link is a
 * text. A last operand may be the link, or the folder of the links.
 */
function linkFolders(
  { links, linksByText, operands }: CommandForm,
  read: readonly ReadWord[],
  options: ReadonlySet<string>,
  folder: TakingFolder | null,
): readonly string[] | null {
  const has = (...some: readonly string[]): boolean => some.some((option) => options.has(option));
  if (!linksByText) return operands.includes("linked") || has(...links) ? ["."] : null;
  const given = operandsOf(read);
  const last = given.at(-1);
  if (!has("-s", "--symbolic") || has("-r", "--relative") || last === undefined || given.length === 1) return ["."];
  const own = dirname(last.text);
  return folder === null ? [own] : folder.isCertain ? [folder.text] : [own, folder.text];
}

/** Takes the file that an operand becomes in a folder, and gives why that is asked about; null if it is not. */
function reasonInFolder(read: ReadWord, folder: TakingFolder | null, { gathered, search }: Reading): string | null {
  if (read.kind !== "used" || !read.isOperand || folder === null || read === folder.operand) return null;
  return gathered.add(`${folder.text}/${basename(read.text)}`, "write", read.word, { isRedirect: false, search });
}

/** True if an option lets a command change folders with all that lies in them, or what is protected. */
function widens({ effect, enters }: CommandForm, { text }: ShellWord): boolean {
  if (effect === "reads" || !text.startsWith("-")) return false;
  return optionsOf(text).some((option) => option === "-f" || option === "--force" || enters?.has(option) === true);
}

function isPath(use: WordUse): boolean {
  return use === "read" || use === "write" || use === "linked";
}

function searchOf(
  form: CommandForm,
  read: readonly ReadWord[],
  options: ReadonlySet<string>,
  { isOfRepository, isShow }: { readonly isOfRepository: boolean; readonly isShow: boolean },
): Search | null {
  const isSearch = form.enters === null || [...form.enters].some((option) => options.has(option));
  const has = (some: ReadonlySet<string>): boolean => [...some].some((option) => options.has(option));
  // What is shown of a file has no outline, whatever names it.
  const mayShowFile = isShow && operandsOf(read).some(({ text }) => !/^(?:HEAD|@)(?:[~^]\d*)*$/.test(text));
  if (!isSearch || (has(form.outlines) && !has(form.contents) && !mayShowFile)) return null;
  const texts = (use: WordUse): readonly string[] =>
    read.flatMap((word) => (word.kind === "used" && word.use === use ? [word.text] : []));
  const showsAll = has(form.showsAll) || texts("glob").some((glob) => !glob.startsWith("!"));
  const own = showsAll ? [] : form.leavesOut.map((each) => (each === "hidden" && has(form.showsFiles) ? "hidden folders" : each));
  // What a rule lets stand beside them, such as -exec, may read.
  const isKnown = read.every(({ kind }) => kind === "option" || kind === "used");
  const tellsNames = isKnown && (form.tellsNames === null || has(form.tellsNames));
  // A folder of such a name is read, since the name stands for others.
  const leftOut = texts("left out").filter((name) => !["hidden", "hidden folders", "ignored"].includes(name));
  return {
    tells: tellsNames ? "names" : "contents",
    follows: form.follows === null || has(form.follows),
    leavesOut: [...own, ...leftOut],
    history: isOfRepository ? [] : null,
  };
}

/** Why a word keeps a command from being proved; null if it does not. */
function reasonOf(read: ReadWord, reading: Reading): string | null {
  switch (read.kind) {
    case "option":
      return null;
    case "not harmless":
    case "unexpected":
      return read.reason;
    case "used":
      return reasonOfUse(read, reading);
  }
}

function reasonOfUse(
  { word, use, text, isOperand }: ReadWord & { readonly kind: "used" },
  { name, gathered, search, isBounded, linkedFrom }: Reading,
): string | null {
  const unless = (isHarmless: boolean): string | null =>
    isHarmless ? null : `this ${use} of ${name} is not known to be harmless`;
  switch (use) {
    case "text":
    case "left out":
    case "glob":
      return null;
    case "write":
      return gathered.add(text, use, word, { isRedirect: false, search: isOperand ? search : null });
    case "read":
    case "linked": {
      const given = { isRedirect: false, search: isOperand ? search : null, isBounded };
      if (linkedFrom === null || !isOperand) return gathered.add(text, "read", word, given);
      // By another name it may be written, too.
      const targets = linkedFrom.map((folder) => (folder === "." || isAbsolute(text) ? text : `${folder}/${text}`));
      return targets.reduce<string | null>((reason, target) => gathered.add(target, "write", word, given) ?? reason, null);
    }
    case "revision": {
      // `HEAD:path` is a file of a commit, `:0:path` one of the index.
      const path = text.replace(/^:[0-3]:|^[^:]*:/, "");
      return path === "" ? null : gathered.add(path, "read", word, { isRedirect: false, search: null });
    }
    case "folder":
      return gathered.enter(text, word);
    case "sed script":
      return unless(isHarmlessSed(text));
    case "awk program":
      return unless(isHarmlessAwk(text));
    case "jq filter":
      return unless(isHarmlessJq(text));
    case "printf format":
      return unless(isHarmlessPrintf(text));
    case "date format":
      return unless(isDateFormat(text));
  }
}
