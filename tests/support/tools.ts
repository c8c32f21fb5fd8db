import { Type } from "typebox";
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

/** A tool without parameters that has a section in the manual. */
export function toolWithPrompt(name: string, prompt: string): Tool {
  return defineTool({
    name,
    description: `The test's tool ${name}.`,
    prompt,
    readOnly: true,
    inputSchema: Type.Object({}),
    run: () => "done",
  });
}

/** A tool without parameters that runs a program, and answers what it said. */
export function ownProgram(name: string, file: string, args: readonly string[]): Tool {
  return ownTool(name, async (_input, { start, finish }) => {
    const { output } = await finish(await start(file, args));
    return { output, details: null };
  });
}
