import fc from "fast-check";

/** Deeper than any reader of JSON should follow. */
const DEEP: unknown = JSON.parse(`${'{"a":['.repeat(200)}${"]}".repeat(200)}`);

/** Values that stand where a server should say something else. `undefined` stands for nothing at all. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -1,
  1e300,
  2 ** 40,
  "",
  " ",
  "x",
  "1",
  "__proto__",
  "constructor",
  "\ud83d\0",
  "y".repeat(200_000),
  [],
  [null],
  [[]],
  ["x", 1, {}],
  [{ type: "text" }],
  [{ type: "thinking", thinking: null }],
  {},
  { a: 1 },
  { toString: "x", length: 3 },
  { type: 7, text: {} },
  DEEP,
];

type Path = readonly (string | number)[];

/** Every place of a JSON value, its own included. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, Array.isArray(value) ? Number(key) : key])),
  ];
}

function replaced(value: unknown, [first, ...rest]: Path, odd: unknown): unknown {
  if (first === undefined) return odd;
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === first ? replaced(item, rest, odd) : item));
  const copy: Record<string, unknown> = { ...(value as object) };
  const inner = replaced(copy[first], rest, odd);
  if (inner === undefined) delete copy[first];
  else copy[first] = inner;
  return copy;
}

/** A stream in which an odd value stands in one place of one event, with the path of that place; the event's number comes first. */
export type OddStream = { readonly events: readonly unknown[]; readonly path: string };

/** Streams with an odd value in one place. */
export function oddStreams(events: readonly unknown[]): fc.Arbitrary<OddStream> {
  const places = events.flatMap((event, index) => placesOf(event).map((path) => ({ index, path })));
  return fc.record({ place: fc.constantFrom(...places), odd: fc.constantFrom(...ODD) }).map(({ place, odd }) => ({
    events: events.map((event, index) => (index === place.index ? replaced(event, place.path, odd) : event)),
    path: [place.index, ...place.path].join("."),
  }));
}

/** Events as a stream of a server has them, as far as JSON can say them. */
export function sseBody(events: readonly unknown[], named = false): string {
  const frame = (event: unknown): string => {
    const data = event === undefined ? "" : JSON.stringify(event);
    const { type } = (event ?? {}) as { readonly type?: unknown };
    return `${named && typeof type === "string" ? `event: ${type.replaceAll(/\s/g, "")}\n` : ""}data: ${data}\n\n`;
  };
  return events.map(frame).join("");
}
