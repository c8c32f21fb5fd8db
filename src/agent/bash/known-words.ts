import { basename } from "node:path";
import { isSecretPath } from "../workspace/secret-files.ts";
import { type FoundSearch, type FoundWord, type Span, type Trouble, optionsOf, type ShellWord } from "./command-line.ts";
import { readWords, type CommandForm, type ReadWord, type WordUse } from "./command-form.ts";
import { expandedWords } from "./expanded-words.ts";
import type { Gathered } from "./operand-files.ts";
import { isCount, isDateFormat, isHarmlessPrintf, isLineNumbers, isLongFormat } from "./script-forms.ts";
import type { Known } from "./table.ts";
import { whyNamed } from "./why-named.ts";

/** Why a file with secrets must be named, if no allow rule names it by its path. */
export const SECRET_OPERAND = "the file mostly holds secrets";

/** The words of a command, and why its row does not prove it; null if it does. */
export type JudgedWords = { readonly words: readonly FoundWord[]; readonly trouble: Trouble | null };

/** The way in which a command searches. */
type Search = Pick<FoundSearch, "tells" | "follows" | "leavesOut" | "history">;

/** What the words of a command are judged by: its name, its search, and what they have named so far. */
type Reading = {
  readonly name: string;
  readonly gathered: Gathered;
  readonly search: Search | null;
  /** True if the command reads so many bytes of each file and no more. */
  readonly isBounded: boolean;
};

/** Judges the words of a command that has a row, and gathers the files that they name. */
export function knownWords({ form, name, named, before, words }: Known, gathered: Gathered): JudgedWords {
  const judged: FoundWord[] = named.slice(0, 1).map(harmless);
  const [first] = named;
  let trouble: Trouble | null = null;
  let judgedLast: ShellWord | null = null;
  const fails = ({ start, end }: Span, reason: string): void => {
    trouble ??= { start, end, reason };
  };
  const judge = (word: ShellWord, reason: string | null, mustBeNamed: string | null): void => {
    if (reason !== null) fails(word, reason);
    const known = word === judgedLast ? (judged.pop()?.mustBeNamed ?? null) : null;
    judged.push({ text: word.text, isOpen: word.open !== null, mustBeNamed: known ?? mustBeNamed });
    judgedLast = word;
  };
  // The shell expands words where it stands, and not where git goes by -C.
  const { place } = gathered;
  const expansion = (word: ShellWord): readonly string[] | null => expandedWords(word, place);
  if (before !== null)
    for (const read of readWords(before.form, "git", before.words, () => null).words) {
      const isFolder = read.kind === "used" && read.use === "folder";
      const reason = read.kind === "not harmless" ? read.reason : isFolder ? gathered.enter(read.text, read.word) : null;
      judge(read.word, reason, reason);
    }
  judged.push(...named.slice(1).map(harmless));

  const { words: read, options } = readWords(form, name, words, expansion);
  const isOfRepository = first?.text === "git";
  const search = searchOf(form, read, options, isOfRepository);
  const isBounded = name === "head" && readsFewBytes(words.map(({ text }) => text));
  const reading = { name, gathered, search, isBounded };
  const operands = operandsOf(read);
  const last = operands.length > 1 && form.putsIntoFolder ? operands.at(-1) : undefined;
  const folder = last !== undefined && gathered.isFolder(last.text) ? last : null;
  for (const word of read) {
    const files = gathered.files.length;
    const reason = reasonOf(word, reading) ?? reasonInFolder(word, folder, gathered);
    const isSecret = gathered.files.slice(files).some(({ names }) => names.some(isSecretPath));
    const isWide = word.kind === "option" && widens(form, word.word);
    const more = isSecret ? SECRET_OPERAND : isWide ? "it changes more than is named" : null;
    judge(word.word, reason, word.kind === "unexpected" ? whyNamed(word.word, gathered.place) : (reason ?? more));
  }
  if (first !== undefined) {
    const whole = { start: first.start, end: (words.at(-1) ?? named.at(-1) ?? first).end };
    if (form.needs !== null && !options.has(form.needs)) fails(whole, `${name} is asked about without ${form.needs}`);
    if (form.effect === "runs") fails(whole, `${name} may run what the workspace says`);
    if (form.putsIntoFolder && operands.some((each) => each !== folder && gathered.isFolder(each.text)))
      fails(whole, `${name} of a folder writes more than it names`);
    // A search without a folder looks where it stands, and one of a repository in all of it.
    const looks = operands.some(({ use }) => use === "read" || use === "write");
    if (search !== null && (!looks || isOfRepository)) gathered.addRoot(first, search);
  }
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
  return counts.length > 0 && counts.every((count) => count <= FEW_BYTES) && !/ -(?!q\b|v\b)./.test(others);
}

function harmless({ text }: ShellWord): FoundWord {
  return { text, isOpen: false, mustBeNamed: null };
}

/** A word that has a use. */
type Used = ReadWord & { readonly kind: "used" };

/** Takes the file that an operand becomes in a folder, and gives why that is asked about; null if it is not. */
function reasonInFolder(read: ReadWord, folder: Used | null, gathered: Gathered): string | null {
  if (read.kind !== "used" || !read.isOperand || folder === null || read === folder) return null;
  return gathered.addInside(folder.text, basename(read.text), read.word);
}

function operandsOf(read: readonly ReadWord[]): readonly Used[] {
  return read.flatMap((word) => (word.kind === "used" && word.isOperand ? [word] : []));
}

/** True if an option lets a command change folders with all that lies in them, or what is protected. */
function widens({ effect, enters }: CommandForm, { text }: ShellWord): boolean {
  if (effect === "reads" || !text.startsWith("-")) return false;
  return optionsOf(text).some((option) => option === "-f" || option === "--force" || enters?.has(option) === true);
}

function searchOf(
  form: CommandForm,
  read: readonly ReadWord[],
  options: ReadonlySet<string>,
  isOfRepository: boolean,
): Search | null {
  const has = (some: ReadonlySet<string>): boolean => [...some].some((option) => options.has(option));
  const isOutline = has(form.outlines) && [...options].every((option) => form.outlines.has(option) || BESIDE.has(option));
  if (isOutline || (form.enters !== null && !has(form.enters))) return null;
  // What a rule lets stand beside them may read.
  const isKnown = read.every(({ kind }) => kind === "option" || kind === "used");
  return {
    tells: isKnown && (form.tellsNames === null || has(form.tellsNames)) ? "names" : "contents",
    follows: form.follows === null || has(form.follows),
    leavesOut: has(form.showsAll) ? [] : form.leavesOut,
    history: isOfRepository ? [] : null,
  };
}

/** Options that print nothing more beside those that tell names and counts. */
const BESIDE: ReadonlySet<string> = new Set(["--cached", "--staged", "--no-color"]);

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

function reasonOfUse(used: Used, { name, gathered, search, isBounded }: Reading): string | null {
  const { word, use, text, isOperand } = used;
  switch (use) {
    case "text":
      return isLongFormat(text) ? `${JSON.stringify(text)} may be a format that writes very much` : null;
    case "write":
    case "read":
      return gathered.add(text, use, word, { isRedirect: false, search: isOperand ? search : null, isBounded });
    case "revision": {
      // `HEAD:path` is a file of a commit, `:0:path` one of the index.
      const path = text.replace(/^:[0-3]:|^[^:]*:/, "");
      return path === "" ? null : gathered.add(path, "read", word, { isRedirect: false, search: null });
    }
    case "folder":
      return gathered.enter(text, word);
    case "line numbers":
    case "count":
    case "printf format":
    case "date format":
      return scriptReason(used, name);
  }
}

/** The forms in which texts that say what a command does are harmless. */
const HARMLESS: Readonly<Partial<Record<WordUse, (text: string) => boolean>>> = {
  "line numbers": isLineNumbers,
  count: isCount,
  "printf format": isHarmlessPrintf,
  "date format": isDateFormat,
};

/** Why a text says more than what is harmless; null if it does not. */
export function scriptReason({ use, text }: Used, name: string): string | null {
  const isHarmless = HARMLESS[use];
  return isHarmless === undefined || isHarmless(text)
    ? null
    : `${JSON.stringify(text)} is not known to be harmless as the ${use} of ${name}`;
}
