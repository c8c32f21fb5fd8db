/**
 * The client of the conformance suite: it connects to the server of its only argument, and calls each tool: with the
 * arguments of MCP_CONFORMANCE_CONTEXT, or with some that fit the schema.
 */
import { McpConnection } from "../../../src/agent/mcp/connection.ts";
import type { FormField, ToolQuestion } from "../../../src/events/tool-question.ts";
import { formValues } from "../../../src/agent/tools/input-form.ts";
import { NeedsInput, type InputAnswer } from "../../../src/agent/tools/question.ts";
import type { BoundCall } from "../../../src/agent/tools/tool.ts";
import type { ToolContext } from "../../../src/agent/tools/tool-context.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/lib/json.ts";
import { systemClock } from "../../../src/lib/time.ts";
import { MCP_TIMES } from "../../../src/mcp-servers.ts";
import { NO_PROCESSES, NO_VERDICT } from "../mcp.ts";

const SERVER = "suite";

const url = process.argv.at(-1) ?? "";
const given = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  readonly toolCalls?: readonly { name: string; arguments: JsonObject }[];
};
const told = (...line: unknown[]): void => console.error(...line);

const registry = new ToolRegistry([]);
const connection = new McpConnection(
  {
    name: SERVER,
    way: { kind: "http", url, headers: {} },
    variableValues: [],
    include: null,
    exclude: [],
    readOnlyTools: [],
    roots: "asked",
    toolTimeoutMs: null,
  },
  {
    isCommon: true,
    registries: [{ registry, known: async () => [] }],
    verdict: NO_VERDICT,
    processes: NO_PROCESSES,
    start: () => Promise.reject(new Error("there is no process")),
    times: { ...MCP_TIMES, connectMs: 10_000 },
    clock: systemClock,
    logger: { tell: (event, message) => told(event, message), warn: told, error: told },
  },
);
connection.open();
await connection.firstTry;

const calls =
  given.toolCalls ??
  [...registry.values()].map(({ name, inputSchema }) => ({
    name: name.slice(`mcp__${SERVER}__`.length),
    arguments: example(inputSchema),
  }));
for (const { name, arguments: input } of calls) {
  const tool = [...registry.values()].find((each) => each.name === `mcp__${SERVER}__${name}`);
  const bound = tool?.bind(input);
  if (bound?.ok !== true) {
    told("not called", name, bound?.refusal);
    continue;
  }
  // The other fields of the context are not used by tools of servers.
  const context = {
    agentId: "agent",
    workspace: new Workspace(process.cwd(), () => null, []),
    signal: AbortSignal.timeout(15_000),
    emit: () => Promise.resolve(),
    answered: null,
    askPerson: async (question) => acceptedBy(question),
  } as Partial<ToolContext> as ToolContext;
  await runAnswered(bound.value, context).then(
    (result) => told("called", name, result),
    (error: unknown) => told("failed", name, error),
  );
}
await connection.close();

/** Runs a tool until it has its result: each question is answered with the defaults of its form. */
async function runAnswered(call: BoundCall, context: ToolContext): Promise<unknown> {
  const answer = await call.run(context);
  if (!(answer instanceof NeedsInput)) return answer;
  const { question, continuation } = answer;
  return runAnswered(call, { ...context, answered: { answer: acceptedBy(question), continuation } });
}

function acceptedBy({ fields }: ToolQuestion): InputAnswer {
  const needed = fields.filter((field) => field.isRequired && field.default === null);
  const values = formValues(fields, Object.fromEntries(needed.map((field) => [field.name, valueOfField(field)])));
  return values.ok ? { action: "accept", values: values.value } : { action: "decline", note: null };
}

function valueOfField(field: FormField): Json {
  switch (field.kind) {
    case "TEXT":
      return "text";
    case "NUMBER":
    case "INTEGER":
      return field.minimum ?? 1;
    case "BOOLEAN":
      return true;
    case "CHOICE":
      return field.options[0]?.value ?? "";
    case "CHOICES":
      return field.options.slice(0, field.minItems ?? 0).map(({ value }) => value);
  }
}

function example(schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const names = Array.isArray(required)
    ? (required as readonly string[])
    : Object.keys(isJsonObject(properties) ? properties : {});
  // One scenario wants the schema of its other tool back.
  const echoed = names.includes("schema")
    ? [...registry.values()].find((tool) => tool.inputSchema["$defs"] !== undefined)
    : undefined;
  if (echoed !== undefined) return { schema: echoed.inputSchema };
  return Object.fromEntries(names.map((name) => [name, valueOf(isJsonObject(properties) ? properties[name] : undefined)]));
}

function valueOf(schema: Json | undefined): Json {
  if (!isJsonObject(schema)) return "text";
  switch (schema["type"]) {
    case "number":
    case "integer":
      return 2;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return example(schema);
    default:
      return "text";
  }
}
