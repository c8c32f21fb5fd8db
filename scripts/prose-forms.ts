import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Counts the folded forms that CONTRIBUTING.md ("Prose") names, in guides, docstrings and descriptions. No count may be above its
 * ceiling in `prose-ceilings.json`.
 */
export const FORMS = {
  "sentence of more than 25 words": (sentence) => (wordsOf(sentence) > 25 ? 1 : 0),
  "What, Who or Whose at the start": counter(/^(?:What(?:ever)?|Who(?:ever|se)?|Which(?:ever)?)\b(?!.*\?$)/g),
  what: counter(/\bwhat\b/gi),
  "of which, of whom": counter(/\bof (?:which|whom|what)\b/gi),
  "go on": counter(/\b(?:go|goes|going|gone|went) on\b(?! to\b)/gi),
  nobody: counter(/\bnobody\b/gi),
  nothing: counter(/\bnothing\b/gi),
  "beside, besides": counter(/\bbesides?\b/gi),
  "at once": counter(/\bat once\b/gi),
  "of before": counter(/\bof before\b/gi),
} as const satisfies Readonly<Record<string, (sentence: string) => number>>;

export type Form = keyof typeof FORMS;
export type Counts = Readonly<Partial<Record<Form, number>>>;
/** The sentences of one kind of text, by file. */
type Texts = Readonly<Record<string, readonly (readonly [path: string, sentences: readonly string[]])[]>>;

export const CEILINGS = "scripts/prose-ceilings.json";
/** A count may be so far below its ceiling before the ceiling is worth lowering. */
const SLACK = 20;

/** The sentences of Markdown: without code blocks, a code span being one word, and each cell of a table apart. */
export function sentencesOf(markdown: string): readonly string[] {
  return markdown
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/`[^`\n]+`/g, "Code")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .split(/\n\s*\n|^#+ .*$|^\s*(?:[-*]|\d+\.) |(?<!\\)\||<[^>]+>/m)
    .flatMap((block) =>
      block.replaceAll(/\*\*|\s+/g, (found) => (found === "**" ? "" : " ")).split(/(?<=[.!?]["”)]?) (?=["“(]?[A-Z])/),
    )
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));
}

/** The counts of all forms in these sentences. */
export function countsOf(sentences: readonly string[]): Record<Form, number> {
  const forms = Object.entries(FORMS).map(([form, count]) => [form, sentences.reduce((sum, each) => sum + count(each), 0)]);
  return Object.fromEntries(forms) as Record<Form, number>;
}

/** Each count above its ceiling. A form without a ceiling must not occur. */
export function above(kind: string, counts: Counts, ceilings: Counts): readonly string[] {
  return Object.entries(counts).flatMap(([form, count]) => {
    const ceiling = ceilings[form as Form] ?? 0;
    return count > ceiling ? [`"${form}" stands ${count} times in ${kind}, and at most ${ceiling} times is allowed`] : [];
  });
}

/** The ceilings to write: the lower of a count and its ceiling. A form without a ceiling gets its count. */
export function lowered(counts: Counts, ceilings: Counts): Counts {
  const entries = Object.entries(counts).map(([form, count]) => [form, Math.min(count, ceilings[form as Form] ?? count)]);
  return Object.fromEntries(entries) as Counts;
}

/** The counts that are above their ceilings. Prints the kinds whose ceilings can be lowered. */
export async function proseProblems(): Promise<readonly string[]> {
  const ceilings = await readCeilings();
  return Object.entries(await texts()).flatMap(([kind, files]) => {
    const counts = countsOf(files.flatMap(([, sentences]) => sentences));
    const low = Object.entries(counts).filter(([form, count]) => count + SLACK < (ceilings[kind]?.[form as Form] ?? 0));
    if (low.length > 0) console.log(`the ceilings of ${kind} can be lowered: npm run prose -- --lower`);
    return above(kind, counts, ceilings[kind] ?? {});
  });
}

/** The sentences of all guides, docstrings and descriptions. */
export async function texts(): Promise<Texts> {
  const guides = (await readdir("docs")).filter((name) => name.endsWith(".md")).map((name) => join("docs", name));
  const sources = (await readdir("src", { recursive: true }))
    .filter((path) => path.endsWith(".ts") && !path.includes("generated"))
    .map((path) => join("src", path));
  const read = async (paths: readonly string[], text: (content: string) => string) =>
    Promise.all(paths.map(async (path) => [path, sentencesOf(text(await readFile(path, "utf8")))] as const));
  return {
    guides: await read(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ...guides], (text) => text),
    docstrings: await read(sources, docstrings),
    descriptions: await read(sources, descriptions),
  };
}

function docstrings(source: string): string {
  return [...source.matchAll(/\/\*\*([^]*?)\*\//g)].map(([, text = ""]) => text.replaceAll(/^\s*\* ?/gm, "")).join("\n\n");
}

/** The literal texts that follow `description:`. */
function descriptions(source: string): string {
  return [...source.matchAll(/\bdescription:\s*(["`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , text = ""]) => text).join("\n\n");
}

function counter(form: RegExp): (sentence: string) => number {
  return (sentence) => sentence.match(form)?.length ?? 0;
}

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

export async function readCeilings(): Promise<Readonly<Record<string, Counts>>> {
  return JSON.parse(await readFile(CEILINGS, "utf8")) as Readonly<Record<string, Counts>>;
}
