import { defineTool, type Tool, type ToolDefinition } from "../../src/agent/tools/tool.ts";

/** A tool without parameters that does what the test says. */
export function ownTool(name: string, run: ToolDefinition<Record<string, never>>["run"], readOnly = true): Tool {
  return defineTool<Record<string, never>>({
    name,
    description: `The test's tool ${name}.`,
    readOnly,
    inputSchema: { type: "object", required: [], properties: {} },
    run,
  });
}
