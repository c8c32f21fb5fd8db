import { clientTool, definitionText, type ClientTool } from "../agent/tools/client-tool.ts";
import { ToolDefinitionError } from "../agent/tools/input-schema.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";

/** The client tools of a template, and the place of the template in the configuration. */
export type DeclaredClientTools = { readonly place: string; readonly clientTools: Readonly<Record<string, ClientTool>> };

/**
 * The tools with those that clients answer. Templates may declare the same tool. Throws ConfigurationError for a name
 * that another tool has, and for an invalid definition. `placeOf` is the place of any other tool.
 */
export function withClientTools(
  path: string,
  tools: ReadonlyMap<string, Tool>,
  declared: readonly DeclaredClientTools[],
  placeOf: (tool: Tool) => string,
): ReadonlyMap<string, Tool> {
  const problems = new Problems();
  const known = new Map<string, { readonly tool: Tool; readonly place: string; readonly text: string }>();
  for (const { place, clientTools } of declared)
    for (const [name, definition] of Object.entries(clientTools))
      problems.of(() => {
        const field = `${place}.clientTools.${name}`;
        const tool = toolOf(`${path}: ${field}`, name, definition);
        const text = definitionText(tool, definition);
        const taken = tools.get(name);
        if (taken !== undefined)
          throw new ConfigurationError(`${path}: ${field} is named as ${placeOf(taken)} is: rename one of them`);
        const other = known.get(name);
        if (other !== undefined && other.text !== text)
          throw new ConfigurationError(
            `${path}: ${field} and ${other.place} define ${name} differently: use one definition, or another name`,
          );
        known.set(name, other ?? { tool, place: field, text });
      });
  problems.none({});
  return new Map([...tools, ...[...known].map(([name, { tool }]) => [name, tool] as const)]);
}

function toolOf(field: string, name: string, definition: ClientTool): Tool {
  try {
    return clientTool(name, definition);
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw new ConfigurationError(`${field}: ${error.message}`);
    throw error;
  }
}
