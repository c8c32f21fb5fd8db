/** A part of a command line, as CommandPart answers it: its place in UTF-16 code units, and why it asks. */
export type AskedPart = { readonly parameter: string; readonly start: number; readonly end: number; readonly reason: string };

/** A piece of a command line for people to read, with the reasons for which it asks: none if it asks for nothing. */
export type LinePiece = { readonly text: string; readonly reasons: readonly string[] };

/** A command line of a call, in pieces. */
export type ShownLine = { readonly parameter: string; readonly pieces: readonly LinePiece[] };

/** Characters that a reader does not see as they are, and runs of spaces that push what follows out of sight: as servers escape them. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{16fe4}\u{1d159}]| {4,}/gu;

/**
 * The command lines of an approval's `input` that its `commandParts` are of, cut where a part begins or ends. Nothing hides in
 * the pieces: what is not seen stands as `\u` escapes, but for line feeds.
 */
export function askedLines(input: unknown, parts: readonly AskedPart[]): readonly ShownLine[] {
  const parameters = [...new Set(parts.map(({ parameter }) => parameter))];
  return parameters.flatMap((parameter) => {
    const line = valueAt(input, parameter);
    if (typeof line !== "string") return [];
    return [
      {
        parameter,
        pieces: piecesOf(
          line,
          parts.filter((part) => part.parameter === parameter),
        ),
      },
    ];
  });
}

/** The value at a place of an input, as in `command`, `commands[1]` and `steps[0].command`. */
function valueAt(input: unknown, place: string): unknown {
  if (!isRecord(input)) return undefined;
  if (Object.hasOwn(input, place)) return input[place];
  const [, parameter = "", item = "", field, inner] = /^(.+?)\[(\d+)\](?:\.(.+?))?(?:\[(\d+)\])?$/.exec(place) ?? [];
  const list = input[parameter];
  const found: unknown = Array.isArray(list) ? list[Number(item)] : undefined;
  const value = field === undefined ? found : isRecord(found) ? found[field] : undefined;
  return inner === undefined ? value : Array.isArray(value) ? value[Number(inner)] : undefined;
}

function piecesOf(line: string, parts: readonly AskedPart[]): readonly LinePiece[] {
  const cuts = new Set([0, line.length]);
  for (const { start, end } of parts) for (const cut of [start, end]) if (cut > 0 && cut < line.length) cuts.add(cut);
  const places = [...cuts].toSorted((one, other) => one - other);
  return places.slice(1).map((end, index) => {
    const start = places[index] ?? 0;
    const reasons = parts.filter((part) => part.start <= start && part.end >= end).map(({ reason }) => reason);
    return { text: visible(line.slice(start, end)), reasons: [...new Set(reasons)] };
  });
}

/** A text in which nothing hides, as in `inputText`: what is not seen stands as `\u` escapes, but for line feeds. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => (hidden === "\n" ? hidden : escaped(hidden)));
}

function escaped(characters: string): string {
  let text = "";
  for (let index = 0; index < characters.length; index += 1)
    text += `\\u${characters.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
