import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { byteLength, headBytes } from "../../lib/text.ts";
import { alternativesOf, isPattern } from "../workspace/glob.ts";
import { namedPart, searchPattern } from "../workspace/named-part.ts";
import { placedValues, placeOf, speaksOf, valuesAt, type CommandUse, type PathUse } from "../tools/path-places.ts";
import type { Tool } from "../tools/tool.ts";
import type { Access, Workspace } from "../workspace/workspace.ts";
import type { CommandLine, FoundCommand } from "../bash/command-line.ts";
import { namedHost } from "../bash/named-host.ts";
import { readCommandLine, type LineContext } from "../bash/read-command-line.ts";

/**
 * A value of a call as rules see it. A file has a name for each way that leads to it inside of the workspace: as it was
 * written, without `.` and `..`, and with all links resolved. A search is a glob pattern, relative to the workspace, with
 * the folders in which it looks: what stands before its wildcards, for each of its alternatives. A command line is what its
 * parser found.
 */
export type RuleValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly names: readonly string[]; readonly access: Access }
  | { readonly kind: "search"; readonly pattern: string; readonly folders: readonly string[] }
  | { readonly kind: "command"; readonly line: CommandLine };

/** The values of a call by parameter, and those of fields that hold paths by their place, as in `edits[].path`. What is absent has none. */
export type RuleValues = Readonly<Record<string, readonly RuleValue[]>>;

/** The longest text that is kept with the record of a call, in bytes: a simulation, and what a proposal counts, see no more of it. */
const KEPT_BYTES = 256;
/** The most that is kept of what was found in a command line, in bytes of JSON. */
const KEPT_LINE_BYTES = 32 * 1024;

/** The values that a call's input has for rules. Throws PathRefused if a path leads out of the workspace. */
export function ruleValues(tool: Tool, input: JsonObject, workspace: Workspace): RuleValues {
  const values: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, value] of Object.entries(withSearches(tool, tool.seenByRules?.input(input) ?? input))) {
    const use = useOf(tool, parameter);
    const lines = Object.hasOwn(tool.commands, parameter) ? tool.commands[parameter] : undefined;
    if (lines !== undefined) {
      values[parameter] = lineValues(workspace, lines, input, parameter);
      continue;
    }
    values[parameter] =
      use === undefined
        ? textsOf(value)
        : listOf(value).flatMap((text) =>
            typeof use === "string"
              ? [fileValue(workspace, text, use)]
              : searchValues(workspace, text, use.searchIn === null ? "." : baseOf(input[use.searchIn])),
          );
  }
  // The files that fields in lists of objects lead to.
  for (const [name, use] of Object.entries(tool.paths)) {
    const place = placeOf(name);
    if (place.field === null || typeof use !== "string") continue;
    const found = valuesAt(input, place);
    if (found.length > 0) values[name] = found.map((value) => fileValue(workspace, textOf(value), use));
  }
  for (const [name, lines] of Object.entries(tool.commands)) {
    if (placeOf(name).field === null) continue;
    const found = lineValues(workspace, lines, input, name);
    if (found.length > 0) values[name] = found;
  }
  return values;
}

/** True if a call only reads: as all of its tool, or as those with such an input. */
export function isReading({ readOnly, reads }: Pick<Tool, "readOnly" | "reads">, values: RuleValues): boolean {
  if (readOnly || reads === null) return readOnly;
  const [value, ...others] = valuesOf(values, reads.parameter);
  return others.length === 0 && value?.kind === "text" && value.text === reads.text;
}

/** The command lines of a place. */
function lineValues(workspace: Workspace, lines: CommandUse, input: JsonObject, place: string): readonly RuleValue[] {
  const context = lineContext(workspace, lines, input);
  return placedValues(input, placeOf(place)).map(({ at, value }) => ({
    kind: "command",
    line: { ...readCommandLine(textOf(value), context), at },
  }));
}

/** The folder in which the lines of a place run, relative to the workspace, and the variables that are set for them. */
function lineContext(workspace: Workspace, { folderIn, environmentIn }: CommandUse, input: JsonObject): LineContext {
  const folder = folderIn === null ? "." : baseOf(input[folderIn]);
  const given = environmentIn === null ? null : (input[environmentIn] ?? null);
  const environment = isJsonObject(given) ? Object.entries(given).map(([name, value]) => `${name}=${textOf(value)}`) : [];
  return { workspace, folder: workspace.namesOf(folder).at(-1) ?? ".", environment };
}

/** The use of a place that holds paths; undefined for others. */
export function useOf({ paths }: Tool, place: string): PathUse | undefined {
  return Object.hasOwn(paths, place) ? paths[place] : undefined;
}

/** The uses of the places that a rule speaks of by the name of a parameter. */
export function usesOf({ paths }: Tool, parameter: string): readonly PathUse[] {
  return Object.entries(paths).flatMap(([place, use]) => (speaksOf(parameter, place) ? [use] : []));
}

/** The values that a rule speaks of by the name of a parameter. */
export function valuesOf(values: RuleValues, parameter: string): readonly RuleValue[] {
  const own = Object.hasOwn(values, parameter) ? (values[parameter] ?? []) : [];
  const fields = Object.keys(values).filter((place) => place !== parameter && speaksOf(parameter, place));
  return fields.length === 0 ? own : [...own, ...fields.flatMap((place) => values[place] ?? [])];
}

/** The input, in which a search that is not given looks everywhere. */
function withSearches(tool: Tool, input: JsonObject): JsonObject {
  const searches = Object.keys(tool.paths).filter((parameter) => typeof useOf(tool, parameter) === "object");
  return { ...Object.fromEntries(searches.map((parameter) => [parameter, EVERYTHING])), ...withoutNulls(input) };
}

/** The search that finds every file. */
const EVERYTHING = "**/*";

function withoutNulls(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

/** The values as they are kept with the record of the call. */
export function storedValues(values: RuleValues): RuleValues {
  return Object.fromEntries(Object.entries(values).map(([parameter, list]) => [parameter, list.map(storedValue)]));
}

/** The values that were kept of a call, its texts as long as its input has them. */
export function wholeValues(kept: RuleValues, input: JsonObject): RuleValues {
  return Object.fromEntries(
    Object.entries(kept).map(([parameter, list]) => {
      const value = list.some(({ kind }) => kind === "text") ? input[parameter] : undefined;
      return [parameter, value === undefined ? list : textsOf(value)];
    }),
  );
}

function storedValue(value: RuleValue): RuleValue {
  switch (value.kind) {
    case "text":
      return { kind: "text", text: headBytes(value.text, KEPT_BYTES) };
    case "command":
      return { kind: "command", line: storedLine(value.line) };
    case "file":
    case "search":
      return value;
  }
}

/** A line with more in it than is kept is one that nobody has read, for a simulation. */
function storedLine(line: CommandLine): CommandLine {
  const judged = { ...line, commands: line.commands.map((command) => ({ ...command, outsidePaths: undefined })) };
  if (byteLength(JSON.stringify(judged)) <= KEPT_LINE_BYTES) return line;
  const trouble = { start: 0, end: line.text.length, reason: "the line has more commands in it than are kept" };
  return { ...line, trouble, hidden: trouble, chosen: null, commands: [] };
}

/** A command line of a call, with the parameter that holds it, and where in the input it stands. */
export type NamedLine = { readonly parameter: string; readonly at: string; readonly line: CommandLine };

/** The command lines of a call. */
export function linesOf(values: RuleValues): readonly NamedLine[] {
  return Object.entries(values).flatMap(([parameter, list]) =>
    list.flatMap((value) => (value.kind === "command" ? [{ parameter, at: value.line.at ?? parameter, line: value.line }] : [])),
  );
}

/** A file that a value names: itself, or an operand of one of its commands. */
export type NamedFile = { readonly names: readonly string[]; readonly access: Access };

/** The files that a value names. */
export function filesIn(value: RuleValue): readonly NamedFile[] {
  switch (value.kind) {
    case "file":
      return [value];
    case "command":
      return value.line.commands.flatMap(({ files }) => files);
    case "text":
    case "search":
      return [];
  }
}

/** The names of a value: the text, the file's names, or the folders of a search. */
export function namesOf(value: RuleValue): readonly string[] {
  switch (value.kind) {
    case "text":
      return [value.text];
    case "file":
      return value.names;
    case "search":
      return value.folders;
    case "command":
      return [value.line.text];
  }
}

/** The files among the values: the name with all links resolved, by the name as it was written. */
export function judgedFiles(values: RuleValues): ReadonlyMap<string, string> {
  const files = Object.values(values).flatMap((list) => list.flatMap((value) => (value.kind === "file" ? [value.names] : [])));
  return new Map(files.flatMap((names) => (names[0] === undefined ? [] : [[names[0], names.at(-1) ?? names[0]] as const])));
}

/** The texts of a value: each of those of a list. */
function textsOf(value: Json): readonly RuleValue[] {
  return listOf(value).map((text) => ({ kind: "text", text }));
}

function listOf(value: Json): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : [textOf(value)];
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fileValue(workspace: Workspace, path: string, access: Access): RuleValue {
  return { kind: "file", names: workspace.namesOf(path), access };
}

/** A pattern without wildcards names one file, or a folder, which is searched with all that lies in it. */
function searchValues(workspace: Workspace, given: string, base: string): readonly RuleValue[] {
  const [written, real] = workspace.namesOf(base);
  const folder = real ?? written;
  const { pattern, named } = searchPattern(workspace, folder, given);
  const file = named === null ? [] : [fileValue(workspace, joined(written, named), "read")];
  return named === pattern ? file : [...file, searchValue(workspace, pattern, folder)];
}

function searchValue(workspace: Workspace, pattern: string, folder: string): RuleValue {
  const named = namedPart(workspace, folder, pattern);
  const folders = alternativesOf(pattern).map((alternative) => joined(folder, foldersBefore(alternative)));
  if (named !== null) folders.push(joined(folder, named.path));
  return { kind: "search", pattern: joined(folder, pattern), folders: [...new Set(folders)] };
}

function baseOf(value: Json | undefined): string {
  return typeof value === "string" && value !== "" ? value : ".";
}

/** The folders of a pattern before the first that is not named as it is. */
function foldersBefore(pattern: string): string {
  const segments = pattern.split("/");
  const named = segments.findIndex((segment) => isPattern(segment) || segment === "" || segment === "." || segment === "..");
  return segments.slice(0, named < 0 ? -1 : named).join("/") || ".";
}

function joined(folder: string, path: string): string {
  if (path === ".") return folder;
  return folder === "." ? path : `${folder}/${path}`;
}

/** A parameter of a call that reaches files, with all their names, or the folders of a search. */
export type ReachedPath = { readonly parameter: string; readonly names: readonly string[] };

/** The paths among the values that were kept of a call, whatever form they have now. */
export function reachedPaths(kept: unknown): ReachedPath[] {
  if (!isJsonObject(kept)) return [];
  return Object.entries(kept as RuleValues).flatMap(([parameter, list]) =>
    list.flatMap((value) =>
      value.kind === "search" ? [{ parameter, names: value.folders }] : filesIn(value).map(({ names }) => ({ parameter, names })),
    ),
  );
}

/** The known paths of command lines that lead out of the workspace, as they were written. */
export function outsidePaths(kept: unknown): readonly string[] {
  return [...new Set(keptCommands(kept).flatMap((command) => command.outsidePaths ?? []))];
}

/** The hosts of the addresses among the words of command lines. */
export function namedHosts(kept: unknown): readonly string[] {
  return [...new Set(keptCommands(kept).flatMap(({ words }) => words.flatMap((word) => namedHost(word) ?? [])))];
}

function keptCommands(kept: unknown): readonly FoundCommand[] {
  return isJsonObject(kept) ? linesOf(kept as RuleValues).flatMap(({ line }) => line.commands) : [];
}

/** True if a call names a file that it writes itself, and not by a command of its lines. */
export function writesItself(values: RuleValues): boolean {
  return Object.values(values)
    .flat()
    .some((value) => value.kind === "file" && value.access === "write");
}

/** The files that a call may have written, of the values that were kept of the call: links are resolved, and each is named once. */
export function writtenFiles(kept: unknown): readonly string[] {
  if (!isJsonObject(kept)) return [];
  const written = Object.values(kept as RuleValues).flatMap((list) =>
    list.flatMap((value) => filesIn(value).flatMap(({ names, access }) => (access === "write" ? names.slice(-1) : []))),
  );
  return [...new Set(written)];
}
