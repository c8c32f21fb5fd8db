import type { JSONSchemaType } from "ajv";
import { Ajv } from "ajv";
import type { Json } from "../../lib/json.ts";
import type { StopReason } from "./model.ts";

/** The conditions of a reply. All conditions that are present must hold; the first reply whose conditions hold is played. */
export type ScriptCondition = {
  /** The last message of a person, since the model last answered, matches this regular expression (flags `is`). */
  readonly user?: string;
  /** The newest message holds a result of this tool. */
  readonly result?: string;
  /** True if that result is an error. */
  readonly isError?: boolean;
  /** At least, and at most, so many lines were found (see `find`). */
  readonly atLeast?: number;
  readonly atMost?: number;
};

/** Text with placeholders, or a text repeated for each line found. */
export type ScriptLine = string | { readonly each: string };

/** A tool call: its input (a template), or the exact text of its arguments. */
export type ScriptCall = { readonly tool: string; readonly input?: Json; readonly arguments?: string };

/** One answer of the model. */
export type ScriptReply = {
  readonly when: ScriptCondition;
  /** Takes the lines that match out of the newest result of a tool; named groups become the fields of `item`. */
  readonly find?: { readonly result: string; readonly line: string };
  /** The thought of the model before it says anything. */
  readonly think?: string;
  readonly say?: readonly ScriptLine[];
  readonly call?: readonly ScriptCall[];
  readonly stop?: StopReason;
  /** The call fails with this message, after what it says. */
  readonly fail?: string;
};

/** The script of a scripted model. The format is described in docs/scripted-model.md. */
export type Script = {
  /** Text is sent in chunks of so many characters, so many milliseconds apart. */
  readonly pace?: { readonly characters: number; readonly delayMs: number };
  readonly replies: readonly ScriptReply[];
};

/** A script file that cannot be played; the message points at the field. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

const text = { type: "string" } as const;
const SCHEMA = {
  type: "object",
  required: ["replies"],
  additionalProperties: false,
  properties: {
    $comment: text,
    pace: {
      type: "object",
      required: ["characters", "delayMs"],
      additionalProperties: false,
      properties: { characters: { type: "integer", minimum: 1 }, delayMs: { type: "number", minimum: 0 } },
    },
    replies: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["when"],
        additionalProperties: false,
        properties: {
          when: {
            type: "object",
            additionalProperties: false,
            properties: {
              user: text,
              result: text,
              isError: { type: "boolean" },
              atLeast: { type: "integer" },
              atMost: { type: "integer" },
            },
          },
          find: {
            type: "object",
            required: ["result", "line"],
            additionalProperties: false,
            properties: { result: text, line: text },
          },
          think: text,
          say: {
            type: "array",
            items: {
              anyOf: [text, { type: "object", required: ["each"], additionalProperties: false, properties: { each: text } }],
            },
          },
          call: {
            type: "array",
            items: {
              type: "object",
              required: ["tool"],
              additionalProperties: false,
              properties: { tool: text, input: {}, arguments: text },
            },
          },
          stop: { enum: ["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"] },
          fail: text,
        },
      },
    },
  },
} as const;

const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile<Script>(
  SCHEMA as unknown as JSONSchemaType<Script>,
);

/** The script in a file's text. `name` stands in the errors. */
export function parseScript(name: string, source: string): Script {
  let script: unknown;
  try {
    script = JSON.parse(source);
  } catch (error) {
    throw new ScriptError(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!validate(script)) {
    throw new ScriptError(
      `${name}: ${(validate.errors ?? []).map((error) => `${error.instancePath === "" ? "/" : error.instancePath} ${error.message ?? ""}`).join("; ")}`,
    );
  }
  for (const [index, reply] of script.replies.entries()) {
    for (const problem of problemsOf(reply)) throw new ScriptError(`${name}: /replies/${index}${problem}`);
    for (const [field, pattern] of [
      ["when/user", reply.when.user],
      ["find/line", reply.find?.line],
    ] as const) {
      try {
        if (pattern !== undefined) RegExp(pattern);
      } catch (error) {
        throw new ScriptError(`${name}: /replies/${index}/${field}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return script;
}

/** The problems of a script that is well formed and can still not be played. */
function* problemsOf({ when, find, say = [], call = [] }: ScriptReply): Generator<string> {
  const repeats =
    say.some((line) => typeof line !== "string") || call.some(({ input }) => JSON.stringify(input ?? null).includes('{"each":'));
  if (find === undefined && repeats) yield " repeats lines with `each`, and has no `find` that finds them";
  if (find === undefined && (when.atLeast !== undefined || when.atMost !== undefined))
    yield "/when counts lines, and there is no `find` that finds them";
  if (call.some((entry) => entry.input !== undefined && entry.arguments !== undefined))
    yield "/call has an entry with both `input` and `arguments`: give one";
}
