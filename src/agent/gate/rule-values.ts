import type { JsonObject, Json } from "../../lib/json.ts";
import { headBytes } from "../../lib/text.ts";
import { isPattern } from "../tools/glob.ts";
import type { Access, Tool } from "../tools/tool.ts";
import type { Workspace } from "../tools/workspace.ts";

/**
 * A value of a call as rules see it. A file has a name for each way that leads to it inside of the workspace: as it was
 * written, without `.` and `..`, and with all links resolved. A search is a glob pattern, relative to the workspace.
 */
export type RuleValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly names: readonly string[]; readonly access: Access }
  | { readonly kind: "search"; readonly pattern: string };

/** The values of a call by parameter; absent parameters have none. */
export type RuleValues = Readonly<Record<string, readonly RuleValue[]>>;

/** The longest text that is kept with the record of a call, in bytes: a simulation sees no more of it. */
const KEPT_BYTES = 256;

/** The values that a call's input has for rules. Throws PathRefused where a path leads out of the workspace. */
export function ruleValues(tool: Tool, input: JsonObject, workspace: Workspace): RuleValues {
  const values: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, value] of Object.entries(input)) {
    if (value === null) continue;
    const texts = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
    const use = tool.paths[parameter];
    values[parameter] =
      use === undefined
        ? texts.map((text) => ({ kind: "text", text }))
        : texts.map((text) =>
            typeof use === "string"
              ? fileValue(workspace, text, use)
              : searchValue(workspace, text, use.searchIn === null ? "." : baseOf(input[use.searchIn])),
          );
  }
  return values;
}

/** The values as they are kept with the record of the call. */
export function keptValues(values: RuleValues): RuleValues {
  return Object.fromEntries(
    Object.entries(values).map(([parameter, list]) => [
      parameter,
      list.map((value) => (value.kind === "text" ? { kind: "text", text: headBytes(value.text, KEPT_BYTES) } : value)),
    ]),
  );
}

/** What a value is called: the text, the pattern, or the file's names. */
export function namesOf(value: RuleValue): readonly string[] {
  switch (value.kind) {
    case "text":
      return [value.text];
    case "file":
      return value.names;
    case "search":
      return [value.pattern];
  }
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fileValue(workspace: Workspace, path: string, access: Access): RuleValue {
  return { kind: "file", names: workspace.namesOf(path), access };
}

/** A pattern without wildcards names one file. */
function searchValue(workspace: Workspace, pattern: string, base: string): RuleValue {
  const [written, real] = workspace.namesOf(base);
  if (!isPattern(pattern)) return fileValue(workspace, joined(written, pattern), "read");
  return { kind: "search", pattern: joined(real ?? written, pattern.replace(/^(\.\/+)+/, "")) };
}

function baseOf(value: Json | undefined): string {
  return typeof value === "string" && value !== "" ? value : ".";
}

function joined(folder: string, path: string): string {
  return folder === "." ? path : `${folder}/${path}`;
}
