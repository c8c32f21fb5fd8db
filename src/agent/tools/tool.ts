import { Type, type Static, type TObject, type TSchema } from "typebox";
import type { JSONSchemaType, ValidateFunction } from "ajv";
import type { TodoList } from "./todo-list.ts";
import { formCheck } from "../../lib/form.ts";
import { closed, milliseconds, ownCode, TEXT } from "../../lib/setting.ts";
import { hasMoreParts, isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import type { GroupedProcess } from "../workspace/process-groups.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { KnownFiles } from "../workspace/known-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { FinishedProgram, StartOptions } from "./programs.ts";
import {
  commandProblem,
  placeProblem,
  placeUnlike,
  type CommandPlaces,
  type CommandUse,
  type PathPlaces,
  type PathUse,
} from "./path-places.ts";
import { cacheProblem } from "./cacheable.ts";
import type { Shells } from "./bash/shells.ts";
import { hookList, listOf, postHooks } from "./hook-list.ts";
import type { ToolHooks } from "./tool-hooks.ts";
import type { BoundPreview, PreviewContext, ToolPreview } from "./tool-preview.ts";
import type { ToolAnswer, ToolResult } from "./tool-result.ts";
import { readStandardSchema, type OutputOf, type StandardSchema } from "./standard-schema.ts";
import { checkDefaults, compile, schemaOf, ToolDefinitionError } from "./input-schema.ts";
import { issuesOf, type ValidationIssue } from "./validation-issue.ts";

/** The risk of a call: how much it could change. */
export const RISKS = ["LOW", "MEDIUM", "HIGH"] as const;
export type Risk = (typeof RISKS)[number];

/** The context of a tool while it runs. */
export type ToolContext = {
  readonly tenant: string;
  readonly agentId: string;
  /** The actor who made the agent, by their own id. */
  readonly createdBy: string;
  readonly templateId: string;
  readonly callId: string;
  /** The folder outside of which a tool must not read or write. */
  readonly workspace: Workspace;
  /** The files that the agent knows: what its calls have read and written, until the end of this one with what it notes. */
  readonly files: KnownFiles;
  /** Aborts at the timeout and when the turn is interrupted. Pass it on, or look at it. */
  readonly signal: AbortSignal;
  readonly todos: TodoList;
  /**
   * Starts a program, without a shell, in the agent's sandbox: it is killed, with all that it started, when the call ends,
   * however it ends, and when the server dies. Its environment is that of a command of `bash_run` (docs/tools.md), with `env`, and
   * has no secret of the server's; `folder` is a path of the workspace, which is its folder if none is given. Rejects
   * with PathRefused for a folder that the agent may not read.
   */
  start(file: string, args: readonly string[], options?: StartOptions): Promise<GroupedProcess>;
  /**
   * Reads what a program says until the program has ended, in bounded memory, and kills what it left behind. The first and the
   * last 32 MB are kept with the call if the model does not read all. If the call ends first, its failure has what was said.
   */
  finish(program: GroupedProcess): Promise<FinishedProgram>;
  /** The agent's background shells: what outlives its call. */
  readonly shells: Shells;
  /**
   * True if rules `network(host:…)` and people allow a connection now: ask before each. What no rule names is refused, and a person
   * is asked when the call ends. What a name leads to is not looked up. Rejects if the database does not answer.
   */
  mayReach(host: string, port: number): Promise<boolean>;
  /**
   * Reports something of the tool's own as a TOOL_CUSTOM_EVENT. Resolves when there is room for more: what a tool that does
   * not wait for that emits beyond its agent's share is left out, and an ERROR of severity WARN says how many.
   */
  emit(eventType: string, eventData: Json): Promise<void>;
};

/** A call whose input fits the tool: with defaults applied, and ready to run. */
export type BoundCall = {
  readonly input: JsonObject;
  run(context: ToolContext): Promise<ToolResult>;
  /** Null if the tool cannot say what a call would change. */
  readonly preview: BoundPreview | null;
};

/** A tool as the gate knows it. Made by `defineTool`. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** True if it changes nothing: such calls run together, and without asking unless the template says otherwise. */
  readonly readOnly: boolean;
  /** True if a second run changes nothing that the first did not: such a call is run again if its server died. */
  readonly idempotent: boolean;
  /** True if its answer depends on nothing but its input and the files that `paths` names: the same call is given the same answer. */
  readonly cacheable: boolean;
  /** After so long a call fails; null for the agent's. */
  readonly timeoutMs: number | null;
  /** The places of the input that reach files, as in `path` or `edits[].path`: permission rules hold for what they lead to. */
  readonly paths: Readonly<Record<string, PathUse>>;
  /** The places of the input that hold command lines for a shell, as in `command` or `steps[].command`. */
  readonly commands: Readonly<Record<string, CommandUse>>;
  readonly risk: Risk;
  /** Which end of an output that is too long the model reads. */
  readonly keeps: "head" | "tail";
  readonly hooks: ToolHooks;
  /** The texts of its author's functions: another text is another tool to who compares configurations. */
  readonly code: readonly string[];
  /** The input with defaults applied, or what is wrong with it: the first problem only if the input has thousands of parts. Never changes `input`. */
  bind(input: Json): Result<BoundCall, readonly ValidationIssue[]>;
};

/** The definition of a tool, for `defineTool`. `Input` is what `run` is given. */
export type ToolDefinition<Input, Schema = JSONSchemaType<Input>> = {
  /** The name by which models and rules call the tool: 1 to 64 letters, digits, _ or -. */
  readonly name: string;
  /** What the tool does, and when to use it, in words for the model. */
  readonly description: string;
  /** The input's form: a `Type.Object`, an object of zod 4, or a plain JSON Schema of an object. Properties that it does not name are refused, of objects within it, too. Nothing is converted: a text is no number. */
  readonly inputSchema: Schema;
  /** True if the tool changes nothing: its calls run together, and without asking unless the template says otherwise. */
  readonly readOnly: boolean;
  /** Says that the same call may run twice: after a crash it is run again instead of closed. No if omitted. */
  readonly idempotent?: boolean;
  /**
   * Says that the answer depends on nothing but the input and the files that `paths` names (`{}` for a tool that reads none): a call
   * of the same is given the earlier answer, for as long as its agent changes nothing and the files are as they were. Only for
   * read-only tools. No if omitted.
   */
  readonly cacheable?: boolean;
  /** After so long a call fails; in ms, up to an hour. The template's `toolTimeoutMs` if omitted. */
  readonly timeoutMs?: number;
  /**
   * The parameters that hold paths of the workspace, and the fields that do in lists of objects: `"edits[].path"`. Rules
   * close files, not parameters: declare every path, so that a file that is denied to one tool is denied to this one too.
   */
  readonly paths?: PathPlaces<Input>;
  /**
   * The parameters, and fields in lists of objects, that hold command lines of bash: rules speak of the commands in them, and
   * a file that is denied is denied to them. `folderIn` names the parameter with the folder in which they run, if it is not
   * the workspace's, and `environmentIn` the one with variables that are set for them.
   */
  readonly commands?: CommandPlaces<Input>;
  /** The risk that people who decide are told; LOW for read-only tools and MEDIUM for others if omitted. */
  readonly risk?: Risk;
  /** `tail` for what says the important things last, as commands do. `head` if omitted. */
  readonly keeps?: "head" | "tail";
  /** Hooks of the tool's own, which run before all others. None if omitted. */
  readonly hooks?: { readonly [Kind in keyof ToolHooks]?: ToolHooks[Kind] | ToolHooks[Kind][number] };
  /** Says what a call would change, for the people who decide on it, and changes nothing; null to say nothing of this call. Or throws why it cannot say that. None if omitted. */
  readonly preview?: (input: Input, context: PreviewContext) => Promise<ToolPreview | null> | ToolPreview | null;
  /** Does the work. What it throws becomes the model's answer; the message should say what to do. */
  readonly run: (input: Input, context: ToolContext) => Promise<ToolAnswer> | ToolAnswer;
};

/** Stands for the input's type where the schema says it. */
declare const BY_SCHEMA: unique symbol;
type BySchema = typeof BY_SCHEMA;

/** The schemas that say the type of their input; for an input whose type is given, a plain JSON Schema of it. */
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

/** The form of a definition: its types say the same, and nothing looks at types when the server starts. */
const problemsOf = formCheck(
  closed({
    name: Type.String(),
    description: TEXT,
    inputSchema: Type.Unsafe({ type: "object" }),
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
  const { name, description, readOnly, timeoutMs = null, keeps = "head", preview, run } = definition;
  if (!NAME.test(name))
    throw new ToolDefinitionError(`a tool's name must be 1 to 64 letters, digits, _ or -, not ${JSON.stringify(name)}`);
  if (name === "network") throw new ToolDefinitionError(`no tool is named ${name}: rules about hosts begin with it`);
  const problems = problemsOf(definition);
  if (problems.length > 0) throw new ToolDefinitionError(`tool ${name}: ${problems.join("; ")}`);
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
    description,
    inputSchema,
    readOnly,
    idempotent: definition.idempotent ?? false,
    cacheable,
    timeoutMs,
    paths,
    commands,
    risk: definition.risk ?? (readOnly ? "LOW" : "MEDIUM"),
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

/** The result that an answer is. What an author's code answers besides, in the face of its types, goes on as it is. */
function resultOf(answer: ToolAnswer): ToolResult {
  return typeof answer === "string" ? { output: answer, details: null } : (answer as ToolResult);
}

/** The most items and fields of an input of which all problems are listed: that takes long, and nothing else goes on meanwhile. */
const LISTED_PARTS = 5_000;

/** A parameter that may be left out, or be null: some models write null for what they leave out. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Unsafe<Static<Schema> | null>({ ...schema, nullable: true }));
}

function pathsOf(
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

function commandsOf(
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
