/** A part of a line. */
export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "struck"; readonly parts: readonly Inline[] }
  /** A link to another site. `host` says where it leads. Images are links as well: nothing is loaded. */
  | Link;

type Link = { readonly kind: "link"; readonly text: string; readonly url: string; readonly host: string };

/** A block of a text. */
export type Block =
  | { readonly kind: "paragraph"; readonly parts: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly parts: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly start: number; readonly items: readonly (readonly Block[])[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const TABLE_RULE_CELL = /^:?-+:?$/;
/** Deeper lists and quotes are shown as text. */
const DEEPEST = 6;

/** Longer texts are shown as they are. */
const LONGEST_CHARACTERS = 200_000;

/** The safe part of Markdown: no HTML, no images, and links only to web and mail addresses. All else is text. */
export function blocksOf(text: string, depth = 0): readonly Block[] {
  if (text.length > LONGEST_CHARACTERS) return [{ kind: "paragraph", parts: [{ kind: "text", text }] }];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", parts: inlinesOf(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (fence !== null) {
      endParagraph();
      const [, mark = "```", language = ""] = fence;
      const end = endOf(lines, at + 1, (each) => !each.trim().startsWith(mark));
      blocks.push({ kind: "code", language, text: lines.slice(at + 1, end).join("\n") });
      at = end + 1;
    } else if (heading !== null) {
      endParagraph();
      blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, parts: inlinesOf(withoutEndMarks(heading[2] ?? "")) });
      at += 1;
    } else if (RULE.test(line)) {
      endParagraph();
      blocks.push({ kind: "rule" });
      at += 1;
    } else if (line.startsWith(">") && depth < DEEPEST) {
      endParagraph();
      const end = endOf(lines, at, (each) => each.startsWith(">"));
      const inner = lines.slice(at, end).map((each) => each.replace(/^> ?/, ""));
      blocks.push({ kind: "quote", blocks: blocksOf(inner.join("\n"), depth + 1) });
      at = end;
    } else if (ITEM.test(line) && depth < DEEPEST) {
      endParagraph();
      const { block, end } = listAt(lines, at, depth);
      blocks.push(block);
      at = end;
    } else if (line.includes("|") && cellTexts(lines[at + 1] ?? "").every((cell) => TABLE_RULE_CELL.test(cell))) {
      endParagraph();
      const end = endOf(lines, at + 2, (each) => each.includes("|"));
      blocks.push({ kind: "table", head: cellsOf(line), rows: lines.slice(at + 2, end).map(cellsOf) });
      at = end;
    } else {
      if (line.trim() === "") endParagraph();
      else paragraph.push(line);
      at += 1;
    }
  }
  endParagraph();
  return blocks;
}

function endOf(lines: readonly string[], start: number, isInside: (line: string) => boolean): number {
  let end = start;
  while (end < lines.length && isInside(lines[end] ?? "")) end += 1;
  return end;
}

/** A heading may end with further marks, after a space. */
function withoutEndMarks(heading: string): string {
  const text = heading.trim();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return end === 0 || text[end - 1] === " " ? text.slice(0, end).trimEnd() : text;
}

/** The list that begins in a line. Its deeper lines belong to the item before them. */
function listAt(lines: readonly string[], start: number, depth: number): { readonly block: Block; readonly end: number } {
  const [, indent = "", , number] = ITEM.exec(lines[start] ?? "") ?? [];
  const isOrdered = number !== undefined;
  const items: string[][] = [];
  let at = start;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const item = ITEM.exec(line);
    const isOwn = item !== null && (item[1] ?? "").length <= indent.length;
    if (isOwn && (item[3] !== undefined) !== isOrdered) break;
    if (isOwn) items.push([item[4] ?? ""]);
    else if (line.trim() === "" ? ITEM.test(lines[at + 1] ?? "") || /^\s{2,}\S/.test(lines[at + 1] ?? "") : /^\s{2,}/.test(line))
      items.at(-1)?.push(line.slice(Math.min(indent.length + 2, line.length - line.trimStart().length)));
    else break;
  }
  const block: Block = {
    kind: "list",
    isOrdered,
    start: Number(number ?? 1),
    items: items.map((item) => blocksOf(item.join("\n"), depth + 1)),
  };
  return { block, end: at };
}

function cellsOf(line: string): readonly (readonly Inline[])[] {
  return cellTexts(line).map(inlinesOf);
}

function cellTexts(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

/**
 * Code, strong, struck, emphasis, links and images with a text, and bare addresses. Each has a bounded length: an opening mark
 * without an end costs little.
 */
const INLINE =
  /(`{1,8})([^`].{0,800}?)\1(?!`)|\*\*(?=\S)(.{0,800}?\S)\*\*|~~(.{1,800}?)~~|\*(?=[^\s*])(.{1,800}?)\*|(?<!\w)_(?=\S)(.{1,800}?)_(?!\w)|!?\[([^\]\n]{0,300})\]\(([^()\n]{1,2000})\)|(https?:\/\/[^\s<>"')\]]{1,2000})/s;

export function inlinesOf(text: string): readonly Inline[] {
  const parts: Inline[] = [];
  let rest = text;
  while (rest !== "") {
    const found = INLINE.exec(rest);
    if (found === null) {
      parts.push({ kind: "text", text: rest });
      break;
    }
    if (found.index > 0) parts.push({ kind: "text", text: rest.slice(0, found.index) });
    parts.push(inlineOf(found));
    rest = rest.slice(found.index + found[0].length);
  }
  return parts;
}

function inlineOf([whole, , code, strong, struck, starred, underlined, label, target, bare]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", parts: inlinesOf(strong) };
  if (struck !== undefined) return { kind: "struck", parts: inlinesOf(struck) };
  const emphasis = starred ?? underlined;
  if (emphasis !== undefined) return { kind: "emphasis", parts: inlinesOf(emphasis) };
  // A target may have a title behind it.
  const address = bare ?? target?.trim().split(/\s/, 1)[0]?.replace(/^<|>$/g, "") ?? "";
  return linkOf(label === undefined || label === "" ? address : label, address) ?? { kind: "text", text: whole };
}

/**
 * True if the text of a link is its address or its host, and so says where it leads. A text that only contains the host may
 * name another one before it, also as the user of an address.
 */
export function namesItsHost({ text, url, host }: Link): boolean {
  const { username, password } = new URL(url);
  return username === "" && password === "" && (text === host || text === url || `${text}/` === url);
}

/** A link that a page may have; null for an address with another scheme. */
function linkOf(text: string, address: string): Link | null {
  if (!/^(https?:|mailto:)/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return { kind: "link", text, url: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host };
}
