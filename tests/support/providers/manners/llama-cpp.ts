import { frame, inPieces, type Manner } from "../played-model.ts";
import { pairs, schemasIn } from "./messages.ts";

/**
 * llama-server, as ggml-org/llama.cpp #13800, #24013, #26596, #28469 and lemonade-sdk/lemonade #2975 tell: keys in another order, null as
 * first content, comments while it reads, timings, numbers as codes, and no schema from which it can make no grammar.
 */
export const llamaCpp: Manner = {
  model: "ministral-3-8b.gguf",
  refuses: (body) => {
    const refused = (status: number, message: string) => ({
      status,
      body: { error: { code: status, message, type: "invalid_request_error" } },
    });
    const schemas = schemasIn(body);
    if (/"pattern":/.test(schemas))
      return refused(400, "JSON schema conversion failed:\nPattern must start with '^' and end with '$'");
    if (/"max(?:Length|Items)":/.test(schemas)) return refused(400, "Failed to initialize samplers: failed to parse grammar");
    if (pairs(body).some(([before, { role }]) => role === "user" && (before.role === "tool" || before.role === "user")))
      return refused(
        500,
        "Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
      );
    return body.messages.some(({ role, content }) => role === "assistant" && content === null)
      ? refused(500, "Expected 'content' to be a string or an array")
      : null;
  },
  frames: ({ thought, text, calls }) => {
    const rest = {
      created: 1_780_390_177,
      id: "chatcmpl-uI7J",
      model: "m.gguf",
      system_fingerprint: "b9465",
      object: "chat.completion.chunk",
    };
    const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
      frame({ choices: [{ finish_reason: finish, index: 0, delta }], ...rest, ...more });
    const usage = { completion_tokens: 247, prompt_tokens: 1_085, total_tokens: 1_332 };
    return [
      ":\n\n",
      ":\n\n",
      chunk({ role: "assistant", content: null }),
      ...inPieces(thought).map((reasoning_content) => chunk({ reasoning_content })),
      ...inPieces(text).map((content) => chunk({ content })),
      ...calls.flatMap(({ name, input }, index) => [
        chunk({
          tool_calls: [
            { index, id: `fqJwuCXg3bRkzI5tGkd2Vv8ZPwWdeYf${index}`, type: "function", function: { name, arguments: "" } },
          ],
        }),
        ...inPieces(JSON.stringify(input)).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop", { usage, timings: { prompt_n: 1_085, predicted_n: 247 } }),
      "data: [DONE]\n\n",
    ];
  },
};
