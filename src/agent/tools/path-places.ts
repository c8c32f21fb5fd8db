import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import type { Access } from "../workspace/workspace.ts";

/**
 * The use of an input place with a path, or a list of paths. `searchIn` marks a glob pattern: in the folder of the
 * named parameter, or in the whole workspace for null.
 */
export type PathUse = Access | { readonly searchIn: string | null };

/** Places of an input in lists of objects, as in `edits[].path`: a field of every item. */
export type FieldPlace<Input> = {
  [Parameter in keyof Input & string]: NonNullable<Input[Parameter]> extends readonly (infer Item)[]
    ? Item extends object
      ? `${Parameter}[].${keyof Item & string}`
      : never
    : never;
}[keyof Input & string];

export type PathPlaces<Input> = {
  readonly [Parameter in keyof Input & string]?: Access | { readonly searchIn: (keyof Input & string) | null };
} & { readonly [Place in FieldPlace<Input>]?: Access };

/**
 * The use of an input place with a command line, or a list of lines. `folderIn`: the parameter with their folder, null
 * for the workspace. `environmentIn`: the one with their environment variables, null for none.
 */
export type CommandUse = { readonly folderIn: string | null; readonly environmentIn: string | null };

export type CommandPlaces<Input> = readonly (
  | (keyof Input & string)
  | FieldPlace<Input>
  | {
      readonly place: (keyof Input & string) | FieldPlace<Input>;
      readonly folderIn?: keyof Input & string;
      readonly environmentIn?: keyof Input & string;
    }
)[];

export type Place = { readonly parameter: string; readonly field: string | null };

const OF_ITEMS = "[].";

export function placeOf(name: string): Place {
  const at = name.indexOf(OF_ITEMS);
  return at < 0 ? { parameter: name, field: null } : { parameter: name.slice(0, at), field: name.slice(at + OF_ITEMS.length) };
}

/**
 * True if a rule about `parameter` applies to a place: the parameter itself, or a field of that name in lists. So a
 * rule on `path` applies to `edits[].path`.
 */
export function speaksOf(parameter: string, place: string): boolean {
  return place === parameter || (place.endsWith(parameter) && place.endsWith(`${OF_ITEMS}${parameter}`));
}

export function parametersOf(inputSchema: JsonObject): JsonObject {
  const properties = inputSchema["properties"];
  return isJsonObject(properties) ? properties : {};
}

/** The values at a place of an input: of a parameter, or of the field of each item that has it. */
export function valuesAt(input: JsonObject, place: Place): readonly Json[] {
  return placedValues(input, place).map(({ value }) => value);
}

/**
 * The first place of paths or command lines, or of their folders and variables, with another value for `run` than
 * judged; null for none.
 */
export function placeUnlike(
  judged: JsonObject,
  given: unknown,
  {
    paths,
    commands,
  }: { readonly paths: Readonly<Record<string, PathUse>>; readonly commands: Readonly<Record<string, CommandUse>> },
): string | null {
  const besides = [
    ...Object.values(paths).flatMap((use) => (typeof use === "string" ? [] : [use.searchIn])),
    ...Object.values(commands).flatMap(({ folderIn, environmentIn }) => [folderIn, environmentIn]),
  ];
  const places = [...Object.keys(paths), ...Object.keys(commands), ...besides.filter((place) => place !== null)];
  const at = (input: JsonObject, place: string): string => JSON.stringify(valuesAt(input, placeOf(place)));
  return places.find((place) => !isJsonObject(given) || at(judged, place) !== at(given, place)) ?? null;
}

/** A value of an input with its place: `command`, `commands[1]`, or `steps[0].command`. */
export type PlacedValue = { readonly at: string; readonly value: Json };

export function placedValues(input: JsonObject, { parameter, field }: Place): readonly PlacedValue[] {
  const value = Object.hasOwn(input, parameter) ? (input[parameter] ?? null) : null;
  const items = itemsOf({ at: parameter, value });
  if (field === null) return items;
  return items.flatMap(({ at, value: item }) =>
    isJsonObject(item) ? itemsOf({ at: `${at}.${field}`, value: item[field] ?? null }) : [],
  );
}

function itemsOf({ at, value }: PlacedValue): readonly PlacedValue[] {
  if (!isList(value)) return value === null ? [] : [{ at, value }];
  return value.flatMap((item, index) => (item === null ? [] : [{ at: `${at}[${index}]`, value: item }]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The problem with a declared place of paths, as words after the tool's name; null for none. */
export function placeProblem(schema: JsonObject, name: string, use: PathUse): string | null {
  const parameters = parametersOf(schema);
  const searchIn = typeof use === "string" ? null : use.searchIn;
  const place = placeOf(name);
  const missing = [place.parameter, searchIn].find((wanted) => wanted !== null && !Object.hasOwn(parameters, wanted));
  if (typeof missing === "string") return `name ${missing}, which is no parameter of it`;
  if (place.field !== null && typeof use !== "string")
    return `name ${name}: a search is a parameter itself, not a field of a list`;
  const isText = isTextSchema(schemaAt(parameters, place), true);
  const isFolder = searchIn === null || isTextSchema(parameters[searchIn], false);
  return isText && isFolder
    ? null
    : `name ${name}: a path is a string or a list of strings, a folder to search in a string, and ${name.includes(OF_ITEMS) ? "the items of the list objects" : "a field of the items of a list is named as in edits[].path"}`;
}

/** The problem with a declared place of command lines, as words after the tool's name; null for none. */
export function commandProblem(schema: JsonObject, name: string, { folderIn, environmentIn }: CommandUse): string | null {
  const parameters = parametersOf(schema);
  const place = placeOf(name);
  const missing = [place.parameter, folderIn, environmentIn].find(
    (wanted) => wanted !== null && !Object.hasOwn(parameters, wanted),
  );
  if (typeof missing === "string") return `name ${missing}, which is no parameter of it`;
  const isFolder = folderIn === null || isTextSchema(parameters[folderIn], false);
  const environment = environmentIn === null ? null : parameters[environmentIn];
  const isEnvironment = environment === null || (isJsonObject(environment) && environment["type"] === "object");
  return isTextSchema(schemaAt(parameters, place), true) && isFolder && isEnvironment
    ? null
    : `name ${name}: a command line is a string or a list of strings, the folder in which it runs a string, and its environment an object`;
}

function schemaAt(parameters: JsonObject, { parameter, field }: Place): Json | undefined {
  const schema = parameters[parameter];
  if (field === null) return schema;
  const items = isJsonObject(schema) && schema["type"] === "array" ? schema["items"] : undefined;
  return isJsonObject(items) ? parametersOf(items)[field] : undefined;
}

function isTextSchema(schema: Json | undefined, mayBeList: boolean): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, items } = schema;
  return type === "string" || (mayBeList && type === "array" && isTextSchema(items, false));
}

type Dependencies = {
  readonly readOnly: boolean;
  readonly paths: Readonly<Record<string, PathUse>> | null;
  readonly commands: Readonly<Record<string, CommandUse>>;
};

/** Why a tool's answers may not be reused, as words after its name; null if they may. */
export function cacheProblem({ readOnly, paths, commands }: Dependencies): string | null {
  if (!readOnly) return "it is not readOnly, and what changes something must happen at each call";
  if (paths === null) return "name the files that it reads in paths, or say paths: {} if it reads none";
  const [place] = Object.entries(paths).find(([, use]) => use !== "read") ?? [];
  if (place !== undefined) return `paths.${place} is not "read": only files that are named can be compared`;
  return Object.keys(commands).length > 0 ? "what its commands depend on is not known" : null;
}
