import { Type } from "typebox";
import canonicalize from "canonicalize";
import { closed, milliseconds, TEXT, withDefault, type Written } from "../../lib/setting.ts";
import { later, MOST_DEFERRED_MS } from "./later.ts";
import { RISKS, toolOf, type Tool } from "./tool.ts";

/** A tool that a client of the agent answers. */
export const CLIENT_TOOL_SETTINGS = {
  /** The use of the tool, in words for the model. Must be given. */
  description: TEXT,
  /** The form of the input, as in `defineTool`: a `Type.Object`, an object of zod 4, or a plain JSON Schema. Must be given. */
  inputSchema: Type.Unsafe<object>({ type: "object" }),
  /** The JSON Schema of results: one of another form is refused, and the call still waits. Any result if omitted. */
  outputSchema: withDefault(Type.Unsafe<object>({ type: "object" }), null),
  /** True for tools without effects: their calls wait concurrently, and run without a question. False if omitted. */
  readOnly: withDefault(Type.Boolean(), false),
  /** The risk that people who decide are told. LOW for read-only tools and MEDIUM for others if omitted. */
  risk: withDefault(Type.Enum([...RISKS]), null),
  /** The time for a result, in ms, up to 30 days. The template's `deferredTimeoutMs` if omitted. */
  dueMs: withDefault(milliseconds(MOST_DEFERRED_MS), null),
};

export const CLIENT_TOOL = closed(CLIENT_TOOL_SETTINGS);

export type ClientTool = Written<typeof CLIENT_TOOL_SETTINGS>;

/**
 * The tool of a definition. Its `run` only hands the call out, so a call whose server stopped meanwhile is handed out
 * again. Throws ToolDefinitionError for an invalid schema.
 */
export function clientTool(name: string, definition: ClientTool): Tool {
  const { description, inputSchema, outputSchema, readOnly = false, risk, dueMs } = definition;
  const tool = toolOf({
    name,
    description,
    inputSchema,
    readOnly,
    idempotent: true,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(risk === undefined ? {} : { risk }),
    run: () => later(dueMs === undefined ? {} : { dueMs }),
  });
  return { ...tool, source: "CLIENT" };
}

/** A text that is equal for definitions of the same tool. */
export function definitionText({ description, inputSchema, readOnly, risk }: Tool, { outputSchema, dueMs }: ClientTool): string {
  const own = { outputSchema: outputSchema ?? null, dueMs: dueMs ?? null };
  return canonicalize(JSON.parse(JSON.stringify({ description, inputSchema, readOnly, risk, ...own }))) ?? "";
}
