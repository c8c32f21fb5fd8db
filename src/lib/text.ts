import type { ErrorObject } from "ajv";
import { distance } from "fastest-levenshtein";

/** The character that stands in a stored text for a NUL, which PostgreSQL cannot store. */
const NUL_MARK = "\u2400";

/**
 * The text as it can be stored and sent: NUL becomes U+2400 (the picture of NUL), a lone surrogate U+FFFD.
 */
export function storable(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", NUL_MARK) : wellFormed;
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** The text without these characters at its end. A pattern such as /=+$/ takes quadratic time for a text that has many of them inside. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** At most `bytes` bytes of UTF-8 from the start of the text, never ending inside a character. */
export function headBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || byteLength(text) <= bytes) return text;
  const buffer = Buffer.from(text, "utf8");
  let end = bytes;
  while (end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return buffer.toString("utf8", 0, end);
}

/** At most `bytes` bytes of UTF-8 from the end of the text, never beginning inside a character. */
export function tailBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || byteLength(text) <= bytes) return text;
  const buffer = Buffer.from(text, "utf8");
  let start = buffer.length - bytes;
  while (start < buffer.length && ((buffer[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return buffer.toString("utf8", start);
}

export function wholeCharacters(buffer: Buffer, end: number): number {
  let start = end - 1;
  while (start > 0 && ((buffer[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = buffer[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length <= end ? end : Math.max(0, start);
}

/** The text, or its start and a mark with the number of cut characters and the place of the whole. */
export function marked(text: string, bytes: number, whole: string): string {
  const head = headBytes(text, bytes);
  return head.length === text.length ? text : `${head}… [${text.length - head.length} more characters; ${whole}]`;
}

const CAUSES = 4;

export function withCause(error: unknown): string {
  const messages: string[] = [];
  let each = error;
  for (let causes = 0; each !== undefined && each !== null && causes <= CAUSES; causes += 1) {
    const message = messageOf(each).replace(/\.$/, "");
    if (!messages.includes(message)) messages.push(message);
    each = each instanceof Error ? each.cause : undefined;
  }
  return messages.length === 1 ? messageOf(error) : messages.join(": ");
}

/** The message of any thrown value. A connection error with several addresses has all their messages. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "something was thrown that has no text";
  }
}

/** Pieces of at most `characters`, never cut inside a surrogate pair. */
export function* pieces(text: string, characters: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = start + characters;
    const splitsPair =
      end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "") && /[\udc00-\udfff]/.test(text[end] ?? "");
    const cut = splitsPair ? Math.max(start + 2, end - 1) : end;
    yield text.slice(start, cut);
    start = cut;
  }
}

const MISTAKEN = 0.4;

function nearestName(mistaken: string, known: readonly string[]): string | null {
  const wanted = mistaken.toLowerCase();
  const [nearest] = known
    .map((name) => ({ name, mistakes: distance(wanted, name.toLowerCase()) }))
    .filter(({ name, mistakes }) => mistakes <= Math.ceil(Math.max(name.length, wanted.length) * MISTAKEN))
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return nearest?.name ?? null;
}

/** A "did you mean" question to append to a sentence; "" if no known name is close. */
export function didYouMean(mistaken: string, known: readonly string[]): string {
  const nearest = nearestName(mistaken, known);
  return nearest === null ? "" : ` (did you mean ${nearest}?)`;
}

export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** A number with its noun, whose plural ends in s: `1 line`, `2 lines`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const LIMITS: Readonly<Record<string, { readonly most: boolean; readonly noun: string }>> = {
  minLength: { most: false, noun: "character" },
  maxLength: { most: true, noun: "character" },
  minItems: { most: false, noun: "item" },
  maxItems: { most: true, noun: "item" },
  minProperties: { most: false, noun: "field" },
  maxProperties: { most: true, noun: "field" },
};

/** The violated limit of a schema, as words after the place; null if the problem is no limit. */
export function limitWords({ keyword, params }: Pick<ErrorObject, "keyword" | "params">): string | null {
  const limit: unknown = params["limit"];
  if (typeof limit !== "number") return null;
  if (keyword === "minimum") return `must be at least ${limit}`;
  if (keyword === "maximum") return `must be at most ${limit}`;
  if (keyword === "minLength" && limit === 1) return "must not be empty";
  const words = LIMITS[keyword];
  return words === undefined ? null : `must have at ${words.most ? "most" : "least"} ${counted(limit, words.noun)}`;
}
