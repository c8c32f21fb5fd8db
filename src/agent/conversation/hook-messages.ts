import { Type, type TProperties } from "typebox";
import { formCheck } from "../../lib/form.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { IMAGE_TYPES, type ContentBlock, type ModelMessage } from "../models/model.ts";

const ANY_TEXT = Type.String();

/** A block with its required fields. Hooks are other people's code: further fields are allowed. */
function block(type: ContentBlock["type"], fields: TProperties) {
  return Type.Object({ type: Type.Literal(type), ...fields });
}

const BLOCK = Type.Unsafe({
  type: "object",
  required: ["type"],
  discriminator: { propertyName: "type" },
  oneOf: [
    block("text", { text: ANY_TEXT }),
    block("image", {
      source: Type.Object({ type: Type.Literal("base64"), media_type: Type.Enum([...IMAGE_TYPES]), data: ANY_TEXT }),
    }),
    block("thinking", { thinking: ANY_TEXT }),
    block("tool_use", { id: ANY_TEXT, name: ANY_TEXT, input: Type.Unsafe({}) }),
    block("tool_result", { tool_use_id: ANY_TEXT, content: ANY_TEXT }),
  ],
});

const problemsOf = formCheck(
  Type.Object({ messages: Type.Array(Type.Object({ role: Type.Enum(["user", "assistant"]), content: Type.Array(BLOCK) })) }),
  "the answer",
);

/**
 * Reads the messages of a preModel hook, which is other people's code: as a JSON copy, which the hook cannot change
 * later. The refusal is the first problem. Throws as JSON.stringify does.
 */
export function readHookMessages(answer: unknown): Result<readonly ModelMessage[], string> {
  const copied = JSON.parse(JSON.stringify({ messages: answer })) as { readonly messages: readonly ModelMessage[] };
  const [problem] = problemsOf(copied);
  return problem === undefined ? accepted(copied.messages) : refused(problem);
}
