import { Type, type Static } from "typebox";
import type { Json } from "../../lib/json.ts";
import { formCheck } from "../../lib/form.ts";
import { messageOf } from "../../lib/text.ts";
import { closed, COUNT } from "../../lib/setting.ts";
import { STOP_REASONS } from "./model.ts";

const ANY_TEXT = Type.String();

/** The conditions of a reply. All conditions that are present must hold; the first reply whose conditions hold is played. */
const CONDITION = closed({
  /** The last message of a person since the model's last answer matches this regular expression (flags `is`). */
  user: Type.Optional(ANY_TEXT),
  /** The newest message holds a result of this tool. */
  result: Type.Optional(ANY_TEXT),
  /** True if that result is an error. */
  isError: Type.Optional(Type.Boolean()),
  /** At least so many lines were found (see `find`). */
  atLeast: Type.Optional(Type.Integer()),
  /** At most so many lines were found. */
  atMost: Type.Optional(Type.Integer()),
});

const LINE = Type.Union([ANY_TEXT, closed({ each: ANY_TEXT })]);

const CALL = closed({
  tool: ANY_TEXT,
  input: Type.Optional(Type.Unsafe<Json>({})),
  arguments: Type.Optional(ANY_TEXT),
});

const REPLY = closed({
  /** Without conditions the answer always fits. */
  when: CONDITION,
  /** Extracts matching lines from the newest result of a tool; named groups become placeholders, as in `{{name}}`. */
  find: Type.Optional(closed({ result: ANY_TEXT, line: ANY_TEXT })),
  think: Type.Optional(ANY_TEXT),
  say: Type.Optional(Type.Immutable(Type.Array(LINE))),
  call: Type.Optional(Type.Immutable(Type.Array(CALL))),
  /** `tool_use` if omitted and it has calls, otherwise `end_turn`. */
  stop: Type.Optional(Type.Enum([...STOP_REASONS])),
  /** The call fails with this message, after what it says. */
  fail: Type.Optional(ANY_TEXT),
});

const SCRIPT = closed({
  $comment: Type.Optional(ANY_TEXT),
  /** Text is sent in chunks of so many characters, so many milliseconds apart, up to an hour. */
  pace: Type.Optional(closed({ characters: COUNT, delayMs: Type.Number({ minimum: 0, maximum: 3_600_000 }) })),
  replies: Type.Immutable(Type.Array(REPLY, { minItems: 1 })),
});

export type Script = Static<typeof SCRIPT>;
export type ScriptReply = Static<typeof REPLY>;
export type ScriptCall = Static<typeof CALL>;
export type ScriptLine = Static<typeof LINE>;

/** An invalid script file; the message names the field. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

const formProblemsOf = formCheck(SCRIPT, "the script");

export function parseScript(name: string, source: string): Script {
  let read: unknown;
  try {
    read = JSON.parse(source);
  } catch (error) {
    throw new ScriptError(`${name} is not JSON: ${messageOf(error)}`);
  }
  const wrong = formProblemsOf(read);
  if (wrong.length > 0) throw new ScriptError(`${name}: ${wrong.join("; ")}`);
  const script = read as Script;
  for (const [index, reply] of script.replies.entries()) {
    for (const problem of problemsOf(reply)) throw new ScriptError(`${name}: replies.${index}${problem}`);
    for (const [field, pattern] of [
      ["when.user", reply.when.user],
      ["find.line", reply.find?.line],
    ] as const) {
      try {
        if (pattern !== undefined) RegExp(pattern);
      } catch (error) {
        throw new ScriptError(`${name}: replies.${index}.${field}: ${messageOf(error)}`);
      }
    }
  }
  return script;
}

function* problemsOf({ when, find, say = [], call = [] }: ScriptReply): Generator<string> {
  const repeats =
    say.some((line) => typeof line !== "string") || call.some(({ input }) => JSON.stringify(input ?? null).includes('{"each":'));
  if (find === undefined && repeats) yield " repeats lines with `each`, and has no `find` that finds them";
  if (find === undefined && (when.atLeast !== undefined || when.atMost !== undefined))
    yield ".when counts lines, and there is no `find` that finds them";
  if (when.isError !== undefined && when.result === undefined)
    yield ".when.isError is said of a result, and there is no `result` that names its tool";
  if (call.some((entry) => entry.input !== undefined && entry.arguments !== undefined))
    yield ".call has an entry with both `input` and `arguments`: give one";
}
