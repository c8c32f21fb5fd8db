import { expect, it } from "vitest";
import { fieldOf, firstEntries, typedEntries, valuesOf, type FormField } from "../../clients/src/input-form.ts";

const bare = {
  title: null,
  description: null,
  isRequired: false,
  default: null,
  format: null,
  minLength: null,
  maxLength: null,
  minimum: null,
  maximum: null,
  options: [],
  minItems: null,
  maxItems: null,
};
const FIELDS: readonly FormField[] = [
  { ...bare, name: "city", kind: "TEXT", isRequired: true },
  { ...bare, name: "nights", kind: "INTEGER", default: 2 },
  { ...bare, name: "breakfast", kind: "BOOLEAN", default: true },
  { ...bare, name: "room", kind: "CHOICE", default: "s" },
  { ...bare, name: "extras", kind: "CHOICES" },
];

it("an untouched form has its defaults", () => {
  const entries = firstEntries(FIELDS);
  expect(entries).toEqual({ city: "", nights: "2", breakfast: true, room: "s", extras: [] });
  expect(valuesOf(FIELDS, entries)).toEqual({ city: null, nights: 2, breakfast: true, room: "s", extras: null });
});

it("what is no number is left to the server, and an emptied field is empty", () => {
  const entries = { ...firstEntries(FIELDS), nights: "two", room: "" };
  expect(valuesOf(FIELDS, entries)).toMatchObject({ nights: "two", room: null });
});

it("values may be typed in a line", () => {
  const entries = typedEntries(FIELDS, "city = Bonn = nice; breakfast=no; extras=tv, bar");
  expect(valuesOf(FIELDS, entries ?? {})).toEqual({
    city: "Bonn = nice",
    nights: 2,
    breakfast: false,
    room: "s",
    extras: ["tv", "bar"],
  });
  expect(typedEntries(FIELDS, "town=Bonn")).toBeNull();
  expect(typedEntries(FIELDS, "hello")).toBeNull();
});

it("a typed word that is neither yes nor no is left to the server", () => {
  const valueOf = (word: string) => valuesOf(FIELDS, typedEntries(FIELDS, `breakfast=${word}`) ?? {})["breakfast"];
  expect(["yes", "Y", "true", "1"].map(valueOf)).toEqual([true, true, true, true]);
  expect(["no", "N", "False", "0"].map(valueOf)).toEqual([false, false, false, false]);
  expect(valueOf("maybe")).toBe("maybe");
  expect(valueOf("")).toBeNull();
});

it("an error of a value names its field", () => {
  expect(fieldOf({ field: ["values", "city"] })).toBe("city");
  expect(fieldOf({ field: ["values"] })).toBeNull();
  expect(fieldOf({ field: ["note"] })).toBeNull();
  expect(fieldOf({ field: null })).toBeNull();
});
