import { Type } from "typebox";
import { formCheck } from "../../lib/form.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { closed } from "../../lib/setting.ts";
import { IMAGE_TYPES, type ModelMessage } from "../models/model.ts";

const TEXT = Type.String();
const TEXT_OR_NULL = Type.Unsafe<string | null>({ type: ["string", "null"] });

/** The forms of a ContentBlock. */
const BLOCKS = [
  closed({ type: Type.Literal("text"), text: TEXT }),
  closed({
    type: Type.Literal("image"),
    source: closed({ type: Type.Literal("base64"), media_type: Type.Enum([...IMAGE_TYPES]), data: TEXT }),
  }),
  closed({ type: Type.Literal("thinking"), by: TEXT, thinking: TEXT, signature: TEXT_OR_NULL, redacted: TEXT_OR_NULL }),
  closed({ type: Type.Literal("tool_use"), id: TEXT, name: TEXT, input: Type.Unsafe({}) }),
  closed({ type: Type.Literal("tool_result"), tool_use_id: TEXT, content: TEXT, is_error: Type.Boolean() }),
];

const BLOCK = Type.Unsafe({ type: "object", required: ["type"], discriminator: { propertyName: "type" }, oneOf: BLOCKS });

const problemsOf = formCheck(
  Type.Array(closed({ role: Type.Enum(["user", "assistant"]), content: Type.Array(BLOCK) })),
  "the list of messages",
);

/** Reads the messages that a preModel hook answered, which is other people's code; the refusal is the first problem with them. */
export function readHookMessages(answer: unknown): Result<readonly ModelMessage[], string> {
  const [problem] = problemsOf(answer);
  return problem === undefined ? accepted(answer as readonly ModelMessage[]) : refused(problem);
}
