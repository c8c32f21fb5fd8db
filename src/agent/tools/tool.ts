import { Type, type Static, type TObject, type TSchema } from "typebox";
import type { JSONSchemaType, ValidateFunction } from "ajv";
import { formCheck } from "../../lib/form.ts";
import { closed, milliseconds, ownCode, TEXT, TEXTS } from "../../lib/setting.ts";
import { hasMoreParts, isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { byteLength, storable } from "../../lib/text.ts";
import { placeUnlike, type CommandPlaces, type CommandUse, type PathPlaces, type PathUse, cacheProblem } from "./path-places.ts";
import { commandsOf, pathsOf } from "./declared-places.ts";
import { ChildStarted } from "./child.ts";
import type { AnswerKept, NeedsInput } from "./question.ts";
import { Later } from "./later.ts";
import { PROMPT_BYTES } from "./limits.ts";
import type { ToolContext } from "./tool-context.ts";
import { hookList, listOf, postHooks, type ToolHooks } from "./tool-hooks.ts";
import type { BoundPreview, PreviewContext, ToolPreview, ToolAnswer, ToolResult } from "./tool-result.ts";
import {
  readStandardSchema,
  type OutputOf,
  type StandardSchema,
  checkDefaults,
  compile,
  LISTED_PARTS,
  resultCheck,
  schemaOf,
  ToolDefinitionError,
  issuesOf,
  type ValidationIssue,
} from "./input-schema.ts";

export const RISKS = ["LOW", "MEDIUM", "HIGH"] as const;
export type Risk = (typeof RISKS)[number];

export type BoundCall = {
  readonly input: JsonObject;
  run(context: ToolContext): Promise<ToolResult | Later | ChildStarted | NeedsInput | AnswerKept>;
  /** Null if the tool cannot say what a call would change. */
  readonly preview: BoundPreview | null;
};

/** Where a tool comes from: the server, the configuration, a client of a template's agents, or an MCP server. */
export const TOOL_SOURCES = ["BUILTIN", "REGISTERED", "CLIENT", "MCP"] as const;
export type ToolSource = (typeof TOOL_SOURCES)[number];

/** A tool as the gate knows it. Made by `defineTool`. */
export type Tool = {
  readonly name: string;
  readonly source: ToolSource;
  /** The name of its MCP server; null for other tools. */
  readonly server: string | null;
  /** The reason why it cannot be called at present; null if it can. */
  readonly unavailable: string | null;
  readonly description: string;
  /** Its section of the manual that the system prompt of its agents ends with; null for none. */
  readonly prompt: string | null;
  readonly inputSchema: JsonObject;
  /** Other names of its parameters, each with the name that stands in the schema. */
  readonly aliases: Readonly<Record<string, string>>;
  /** True if it changes nothing: such calls run together, and without a question unless the template says otherwise. */
  readonly readOnly: boolean;
  /** True if a second run has no further effect: such a call is run again if its server stopped. */
  readonly idempotent: boolean;
  /** Pure given its input and the files of `paths`: identical calls reuse the answer. */
  readonly cacheable: boolean;
  /** The time limit of a call, in ms; null for the agent's. */
  readonly timeoutMs: number | null;
  /** Its canonical definition by an MCP server (RFC 8785), with its SHA-256 in hex; null for other tools. */
  readonly definition: { readonly text: string; readonly digest: string } | null;
  /** The input places that hold paths, as in `path` or `edits[].path`: permission rules apply to the resolved files. */
  readonly paths: Readonly<Record<string, PathUse>>;
  /** Its calls with this text in this parameter only read; null for none, or if `readOnly` says it of all. */
  readonly reads: { readonly parameter: string; readonly text: string } | null;
  /** The input as rules see it, and the parameters that proposed rules name; null for the input itself. */
  readonly seenByRules: { readonly input: (input: JsonObject) => JsonObject; readonly named: readonly string[] } | null;
  /** The input places that hold command lines for a shell, as in `command` or `steps[].command`. */
  readonly commands: Readonly<Record<string, CommandUse>>;
  readonly risk: Risk;
  /** The ids of the service actors who may give its results later. */
  readonly completedBy: readonly string[];
  /** The JSON Schema of results that are given later; null for any. */
  readonly outputSchema: object | null;
  /** The problems of a result that was given later; none if the tool has no `outputSchema`. */
  readonly resultIssues: (result: Json) => readonly ValidationIssue[];
  /** The end of too long an output that the model reads. */
  readonly keeps: "head" | "tail";
  readonly hooks: ToolHooks;
  /** The source texts of its author's functions, to detect changes of the configuration. */
  readonly code: readonly string[];
  /**
   * The input with defaults applied, or its problems: only the first if the input has thousands of parts. Never changes
   * `input`.
   */
  bind(input: Json): Result<BoundCall, readonly ValidationIssue[]>;
};

/** The definition of a tool, for `defineTool`. `Input` is the input of `run`. */
export type ToolDefinition<Input, Schema = JSONSchemaType<Input>> = {
  /** The name by which models and rules call the tool: 1 to 64 letters, digits, _ or -. */
  readonly name: string;
  /** What the tool does, and when to use it, in words for the model. */
  readonly description: string;
  /** How to work with the tool, up to 8 KB: its section of the manual that the system prompt ends with. None if omitted. */
  readonly prompt?: string;
  /**
   * The input's form: a `Type.Object`, an object of zod 4, or a plain JSON Schema of an object. Unknown properties are
   * rejected, also in nested objects. Values are not converted: a text is no number.
   */
  readonly inputSchema: Schema;
  /** Other names by which models may give parameters, each with the name in the schema. None if omitted. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** True if the tool changes nothing: its calls run together, and without a question unless the template says otherwise. */
  readonly readOnly: boolean;
  /** True if the same call may run twice: after a crash it is run again instead of closed. False if omitted. */
  readonly idempotent?: boolean;
  /**
   * Pure given its input and the files of `paths` (`{}` for a tool that reads none). An identical call reuses the
   * earlier answer until the agent changes something or a file differs. Only for read-only tools. False if omitted.
   */
  readonly cacheable?: boolean;
  /** The time limit of a call; in ms, up to an hour. The template's `toolTimeoutMs` if omitted. */
  readonly timeoutMs?: number;
  /**
   * The parameters, and fields in lists of objects (`"edits[].path"`), that hold paths of the workspace. Declare every
   * path: then a file that is denied to one tool is denied to this one too.
   */
  readonly paths?: PathPlaces<Input>;
  /**
   * The parameters, and fields in lists of objects, that hold command lines of bash: rules apply to their commands, and
   * denied files are closed to them. `folderIn` names the parameter with their folder, if it is not the workspace, and
   * `environmentIn` the one with their environment variables.
   */
  readonly commands?: CommandPlaces<Input>;
  /** The risk that people who decide are told; LOW for read-only tools and MEDIUM for others if omitted. */
  readonly risk?: Risk;
  /** The ids of service actors who may give results that come later (`completeToolCall`). None if omitted. */
  readonly completedBy?: readonly string[];
  /** The JSON Schema of results that come later: one of another form is refused, and the call still waits. Any if omitted. */
  readonly outputSchema?: object;
  /**
   * The end of too long an output that the model reads: `tail` for commands, which report the important facts last.
   * `head` if omitted.
   */
  readonly keeps?: "head" | "tail";
  /** Hooks of the tool's own, which run before all others. None if omitted. */
  readonly hooks?: { readonly [Kind in keyof ToolHooks]?: ToolHooks[Kind] | ToolHooks[Kind][number] };
  /**
   * Computes the changes of a call without making them, for people who decide; null if they are unknown. May throw the
   * reason. None if omitted.
   */
  readonly preview?: (input: Input, context: PreviewContext) => Promise<ToolPreview | null> | ToolPreview | null;
  /** Does the work. An error that it throws becomes the model's answer; its message should give advice. */
  readonly run: (input: Input, context: ToolContext) => Promise<ToolAnswer> | ToolAnswer;
};

declare const BY_SCHEMA: unique symbol;
type BySchema = typeof BY_SCHEMA;

type SchemaFor<Input> = [Input] extends [BySchema] ? TObject | StandardSchema : JSONSchemaType<Input>;
type InputFor<Input, Schema> = [Input] extends [BySchema]
  ? Schema extends TObject
    ? Static<Schema>
    : Schema extends StandardSchema
      ? OutputOf<Schema>
      : never
  : Input;

/** The longest time that a call may be given, in ms: an hour. */
export const MAX_TIMEOUT_MS = 60 * 60 * 1_000;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The name of the tool by which agents call tools that came later (`bridge.ts`). */
export const BRIDGE = "call_tool";

/** The form of a definition, which equals its types: types are not checked at run time. */
const problemsOf = formCheck(
  closed({
    name: Type.String(),
    description: TEXT,
    prompt: Type.Optional(TEXT),
    inputSchema: Type.Unsafe({ type: "object" }),
    aliases: Type.Optional(Type.Unsafe({ type: "object", additionalProperties: { type: "string" } })),
    readOnly: Type.Boolean(),
    idempotent: Type.Optional(Type.Boolean()),
    cacheable: Type.Optional(Type.Boolean()),
    timeoutMs: Type.Optional(milliseconds(MAX_TIMEOUT_MS)),
    paths: Type.Optional(
      Type.Unsafe({
        type: "object",
        additionalProperties: {
          anyOf: [{ enum: ["read", "write"] }, closed({ searchIn: Type.Unsafe({ type: ["string", "null"] }) })],
        },
      }),
    ),
    commands: Type.Optional(
      Type.Unsafe({
        type: "array",
        items: {
          anyOf: [
            { type: "string" },
            closed({
              place: Type.String(),
              folderIn: Type.Optional(Type.String()),
              environmentIn: Type.Optional(Type.String()),
            }),
          ],
        },
      }),
    ),
    risk: Type.Optional(Type.Enum([...RISKS])),
    completedBy: Type.Optional(TEXTS),
    outputSchema: Type.Optional(Type.Unsafe({ type: "object" })),
    keeps: Type.Optional(Type.Enum(["head", "tail"])),
    hooks: Type.Optional(closed({ preToolUse: Type.Optional(hookList()), postToolUse: Type.Optional(postHooks()) })),
    preview: Type.Optional(ownCode()),
    run: ownCode(),
  }),
  "the definition",
);

/**
 * A tool from its definition. The input's type is that of `inputSchema`; if `inputSchema` is a plain JSON Schema, the type is
 * given: `defineTool<{ path: string }>`. The schema is compiled once, here. An object of zod checks its input once more itself, and
 * `run` is given what it makes of it. Throws ToolDefinitionError if the definition is wrong.
 *
 * @example
 * export const wordCount = defineTool({
 *   name: "word_count",
 *   description: "Counts the words of a file.",
 *   readOnly: true,
 *   paths: { path: "read" },
 *   inputSchema: Type.Object({ path: Type.String() }),
 *   async run({ path }, { workspace, signal }) {
 *     const file = await workspace.openForReading(path);
 *     try {
 *       const words = (await file.readFile({ encoding: "utf8", signal })).split(/\s+/).length;
 *       return { output: `${words} words`, details: { path, words } };
 *     } finally {
 *       await file.close();
 *     }
 *   },
 * });
 */
export function defineTool<Input = BySchema, Schema extends SchemaFor<Input> = SchemaFor<Input>>(
  definition: ToolDefinition<InputFor<NoInfer<Input>, Schema>, Schema>,
): Tool;
export function defineTool(definition: ToolDefinition<unknown, object>): Tool {
  return toolOf(definition);
}

/** As `defineTool`, for a schema of any type. */
export function toolOf(definition: ToolDefinition<unknown, object>): Tool {
  const { name, description, prompt = null, readOnly, timeoutMs = null, keeps = "head", preview, run } = definition;
  if (!NAME.test(name))
    throw new ToolDefinitionError(`a tool's name must be 1 to 64 letters, digits, _ or -, not ${JSON.stringify(name)}`);
  if (name === "network") throw new ToolDefinitionError(`no tool is named ${name}: rules about hosts begin with it`);
  if (name === BRIDGE) throw new ToolDefinitionError(`no tool is named ${name}: by it agents call tools that came later`);
  const problems = problemsOf(definition);
  if (problems.length > 0) throw new ToolDefinitionError(`tool ${name}: ${problems.join("; ")}`);
  if (prompt !== null && byteLength(storable(prompt)) > PROMPT_BYTES)
    throw new ToolDefinitionError(`tool ${name}: prompt must not be larger than ${PROMPT_BYTES} bytes of UTF-8`);
  const standard = readStandardSchema(name, definition.inputSchema);
  const inputSchema = schemaOf(name, standard?.schema ?? definition.inputSchema);
  const validateAll = compile<unknown>(name, inputSchema, "all", standard !== null);
  let validateFirst: ValidateFunction | null = null;
  if (standard === null) checkDefaults(name, inputSchema);
  const paths = pathsOf(name, inputSchema, definition.paths ?? {});
  const commands = commandsOf(name, inputSchema, definition.commands ?? []);
  const cacheable = definition.cacheable ?? false;
  const problem = cacheable ? cacheProblem({ readOnly, commands, paths: definition.paths === undefined ? null : paths }) : null;
  if (problem !== null) throw new ToolDefinitionError(`tool ${name} cannot be cacheable: ${problem}`);
  return {
    name,
    source: "REGISTERED",
    server: null,
    unavailable: null,
    description,
    prompt: prompt === null ? null : storable(prompt),
    inputSchema,
    aliases: definition.aliases ?? {},
    readOnly,
    reads: null,
    seenByRules: null,
    idempotent: definition.idempotent ?? false,
    cacheable,
    timeoutMs,
    definition: null,
    paths,
    commands,
    risk: definition.risk ?? (readOnly ? "LOW" : "MEDIUM"),
    completedBy: definition.completedBy ?? [],
    outputSchema: definition.outputSchema ?? null,
    resultIssues: resultCheck(name, definition.outputSchema ?? null),
    keeps,
    hooks: { preToolUse: listOf(definition.hooks?.preToolUse), postToolUse: listOf(definition.hooks?.postToolUse) },
    code: [run, preview].flatMap((own) => (own === undefined ? [] : [String(own)])),
    bind(raw) {
      const input: unknown = structuredClone(raw);
      const isLarge = hasMoreParts(raw, LISTED_PARTS);
      const validate = isLarge ? (validateFirst ??= compile(name, inputSchema, "first", standard !== null)) : validateAll;
      if (!validate(input)) return refused(issuesOf(validate.errors ?? [], input));
      if (!isJsonObject(input)) return refused([{ path: "/", message: "must be object", value: raw }]);
      const checked = standard?.check(structuredClone(input)) ?? { value: input, issues: null };
      if (checked.issues !== null) return refused(checked.issues);
      const { value } = checked;
      const unlike = standard === null ? null : placeUnlike(input, value, { paths, commands });
      if (unlike !== null)
        return refused([
          { path: `/${unlike}`, message: "is made another by its schema than rules see: convert it in run", value: raw },
        ]);
      return accepted({
        input,
        run: async (context) => resultOf(await run(value, context)),
        preview: preview === undefined ? null : async (context) => preview(value, context),
      });
    },
  };
}

function resultOf(answer: ToolAnswer): ToolResult | Later | ChildStarted {
  if (answer instanceof Later || answer instanceof ChildStarted) return answer;
  return typeof answer === "string" ? { output: answer, details: null } : (answer as ToolResult);
}

/** A parameter that may be omitted or null: some models write null for omitted ones. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Unsafe<Static<Schema> | null>({ ...schema, nullable: true }));
}

const SERVER_TOOL = /^mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$/;
const SERVER_TOOLS = /^mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_*?-]+$/;

/** True for the name of a tool of an MCP server, `mcp__server__tool`: a configuration may name it before it is there. */
export function isServerTool(name: string): boolean {
  return SERVER_TOOL.test(name);
}

/** The name of the MCP server in the name of a tool; null for tools of no server. */
export function serverIn(name: string): string | null {
  return isServerTool(name) ? (/^mcp__(.+?)__/.exec(name)?.[1] ?? null) : null;
}

/** True for such a name, or for a pattern of such names alone: `mcp__server__*`. */
export function isOfServerTools(pattern: string): boolean {
  return SERVER_TOOLS.test(pattern);
}
