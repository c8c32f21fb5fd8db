import type { JsonObject } from "../../lib/json.ts";
import { ToolDefinitionError } from "./input-schema.ts";
import { commandProblem, placeProblem, type CommandPlaces, type CommandUse, type PathUse } from "./path-places.ts";

/** The paths of a definition. Throws ToolDefinitionError for a place that its schema does not have. */
export function pathsOf(
  name: string,
  schema: JsonObject,
  declared: Readonly<Record<string, PathUse | undefined>>,
): Readonly<Record<string, PathUse>> {
  return Object.fromEntries(
    Object.entries(declared).flatMap(([place, use]) => {
      if (use === undefined) return [];
      const problem = placeProblem(schema, place, use);
      if (problem !== null) throw new ToolDefinitionError(`the paths of tool ${name} ${problem}`);
      return [[place, use] as const];
    }),
  );
}

/** The command lines of a definition. Throws ToolDefinitionError for a place that its schema does not have. */
export function commandsOf(
  name: string,
  schema: JsonObject,
  declared: CommandPlaces<Record<string, unknown>>,
): Readonly<Record<string, CommandUse>> {
  return Object.fromEntries(
    declared.map((each) => {
      const { place, folderIn = null, environmentIn = null } = typeof each === "string" ? { place: each } : each;
      const use = { folderIn, environmentIn };
      const problem = commandProblem(schema, place, use);
      if (problem !== null) throw new ToolDefinitionError(`the commands of tool ${name} ${problem}`);
      return [place, use] as const;
    }),
  );
}
