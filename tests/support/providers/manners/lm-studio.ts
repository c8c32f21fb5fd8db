import { frame, inPieces, type Manner } from "../played-model.ts";
import { schemasIn } from "./messages.ts";

/**
 * LM Studio, as lmstudio-ai/lmstudio-bug-tracker #237, #261, #378, #830 and #1592 tell: thoughts in a leading `<think>` block of the text,
 * empty names in later fragments, errors as plain texts, and schemas without `properties` refused.
 */
export const lmStudio: Manner = {
  model: "qwen3-8b",
  refuses: (body) => {
    const { tools = [] } = body as { readonly tools?: readonly { readonly function: { readonly parameters: object } }[] };
    if (tools.some((tool) => !("properties" in tool.function.parameters)))
      return {
        status: 400,
        body: { error: '[{"code":"invalid_type","expected":"object","path":["properties"],"message":"Required"}]' },
      };
    if (body.messages.some(({ content }) => typeof content !== "string" && !Array.isArray(content)))
      return { status: 400, body: { error: "Invalid 'content': 'content' field must be a string or an array of objects." } };
    return schemasIn(body).includes('"$ref"') ? { status: 400, body: { error: "unresolved reference" } } : null;
  },
  frames: ({ thought, text, calls }) => {
    const base = {
      id: "chatcmpl-ohp",
      object: "chat.completion.chunk",
      created: 1_738_343_241,
      model: "qwen3-8b",
      system_fingerprint: "qwen3-8b",
    };
    const chunk = (delta: object, finish: string | null = null): string =>
      frame({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    return [
      ...inPieces(`<think>${thought}</think>\n\n${text}`, 3).map((content) => chunk({ role: "assistant", content })),
      ...calls.flatMap(({ name, input }, index) => [
        chunk({
          role: "assistant",
          tool_calls: [{ index, id: String(193_629_320 + index), type: "function", function: { name, arguments: "" } }],
        }),
        ...inPieces(JSON.stringify(input)).map((piece) =>
          chunk({ tool_calls: [{ index, type: "function", function: { name: "", arguments: piece } }] }),
        ),
      ]),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      frame({ ...base, choices: [], usage: { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 } }),
      "data: [DONE]\n\n",
    ];
  },
};
