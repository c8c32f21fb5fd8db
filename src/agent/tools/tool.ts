import { Ajv, type ErrorObject, type JSONSchemaType, type ValidateFunction } from "ajv";
import type { TodoItem } from "../../events/event.ts";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { Workspace } from "./workspace.ts";

/** What a tool answers: `output` is the text for the model, `details` the JSON for programs. */
export type ToolResult = { readonly output: string; readonly details: Json };

/** What a tool may use while it runs. */
export type ToolContext = {
  readonly agentId: string;
  readonly callId: string;
  /** The folder outside of which a tool must not read or write. */
  readonly workspace: Workspace;
  /** Aborts at the timeout and when the turn is interrupted. Pass it on, or look at it. */
  readonly signal: AbortSignal;
  readonly todos: TodoList;
  /** Reports something of the tool's own as a TOOL_CUSTOM_EVENT. */
  emit(eventType: string, eventData: Json): void;
};

/** The agent's todo list. */
export type TodoList = {
  read(): Promise<readonly TodoItem[]>;
  /** Replaces the list and appends TODO_CHANGED, in one transaction. */
  write(todos: readonly TodoItem[]): Promise<void>;
};

/** What one parameter got wrong: a JSON pointer, what was expected, and the value that came. */
export type ValidationIssue = { readonly path: string; readonly message: string; readonly value: Json };

/** A call whose input fits the tool: with defaults applied, and ready to run. */
export type BoundCall = { readonly input: JsonObject; run(context: ToolContext): Promise<ToolResult> };

/** A tool as the gate knows it. Made by `defineTool`. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Whether it changes nothing: such calls run together, and without asking unless the template says otherwise. */
  readonly readOnly: boolean;
  /** After so long a call fails; null for the agent's. */
  readonly timeoutMs: number | null;
  /** The input with defaults applied, or what is wrong with it. Never changes `input`. */
  bind(input: Json): Result<BoundCall, readonly ValidationIssue[]>;
};

/** What `defineTool` takes. */
export type ToolDefinition<Input> = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. Properties that it does not name are refused. */
  readonly inputSchema: JSONSchemaType<Input>;
  readonly readOnly: boolean;
  readonly timeoutMs?: number;
  /** Does the work. What it throws becomes the model's answer; the message should say what to do. */
  readonly run: (input: Input, context: ToolContext) => Promise<ToolResult> | ToolResult;
};

/** The definition of a tool is wrong; the message says where. */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
}

/** The longest time that a call may be given, in ms: an hour. */
export const MAX_TIMEOUT_MS = 60 * 60 * 1_000;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A tool from its definition. The schema is compiled once, here. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, readOnly, timeoutMs = null, run } = definition;
  if (!NAME.test(name))
    throw new ToolDefinitionError(`a tool's name must be 1 to 64 letters, digits, _ or -, not ${JSON.stringify(name)}`);
  if (timeoutMs !== null && !(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS))
    throw new ToolDefinitionError(`the timeoutMs of tool ${name} must be between 1 and ${MAX_TIMEOUT_MS}`);
  const inputSchema = closed(name, definition.inputSchema);
  const validate = compile<Input>(name, inputSchema);
  return {
    name,
    description,
    inputSchema,
    readOnly,
    timeoutMs,
    bind(raw) {
      const input: unknown = structuredClone(raw);
      if (!validate(input)) return refused((validate.errors ?? []).map((error) => issueOf(error, input)));
      if (!isJsonObject(input)) return refused([{ path: "/", message: "must be object", value: raw }]);
      return accepted({ input, run: async (context) => run(input, context) });
    },
  };
}

function closed(name: string, schema: object): JsonObject {
  const json = JSON.parse(JSON.stringify(schema)) as JsonObject;
  if (json["type"] !== "object") throw new ToolDefinitionError(`the inputSchema of tool ${name} must have type "object"`);
  return "additionalProperties" in json ? json : { ...json, additionalProperties: false };
}

function compile<Input>(name: string, schema: JsonObject): ValidateFunction<Input> {
  try {
    return new Ajv({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true, verbose: true }).compile<Input>(
      schema,
    );
  } catch (error) {
    throw new ToolDefinitionError(
      `the inputSchema of tool ${name} is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function issueOf(error: ErrorObject, input: unknown): ValidationIssue {
  const value =
    error.keyword === "required"
      ? null
      : error.keyword === "additionalProperties"
        ? propertyOf(error.data, error.params["additionalProperty"])
        : error.data;
  const path = error.instancePath === "" ? "/" : error.instancePath;
  const message =
    error.keyword === "additionalProperties"
      ? `has no parameter ${JSON.stringify(error.params["additionalProperty"])}`
      : describe(error);
  return { path, message, value: (value ?? (error.keyword === "required" ? null : input)) as Json };
}

function propertyOf(data: unknown, key: unknown): unknown {
  return isJsonObject(data) && typeof key === "string" ? data[key] : undefined;
}

function describe(error: ErrorObject): string {
  if (error.keyword === "enum") return `must be one of ${JSON.stringify(error.params["allowedValues"])}`;
  return error.message ?? error.keyword;
}
