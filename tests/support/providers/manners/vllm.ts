import { frame, inPieces, type Manner } from "../played-model.ts";
import { callsIn, pairs } from "./messages.ts";

/**
 * vLLM with a Mistral tokenizer, as vllm-project/vllm #6862, #9019, #18412, #27755 and mistral-common #169 tell: thoughts under two
 * names at once, calls without ids whose arguments come in fragments, null beside them, and an order of roles that refuses a person
 * right after a tool.
 */
export const vllm: Manner = {
  model: "mistralai/Devstral-Small",
  refuses: (body) => {
    const refused = (message: string) => ({
      status: 400,
      body: { object: "error", message, type: "BadRequestError", param: null, code: 400 },
    });
    for (const [before, message] of pairs(body)) {
      if (before.role === "tool" && message.role === "user") return refused("Unexpected role 'user' after role 'tool'");
      if (before.role === "user" && message.role === "user")
        return refused("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...");
    }
    const wrong = callsIn(body).find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
    return wrong === undefined
      ? null
      : refused(`Tool call id was ${String(wrong["id"])} but must be a-z, A-Z, 0-9, with a length of 9.`);
  },
  frames: ({ thought, text, calls }) => {
    const base = { id: "chatcmpl-2", object: "chat.completion.chunk", created: 1, model: "devstral" };
    const usage = { prompt_tokens: 12, total_tokens: 14, completion_tokens: 2 };
    const chunk = (delta: object, more: object = { finish_reason: null }): string =>
      frame({ ...base, choices: [{ index: 0, delta, logprobs: null, token_ids: null, ...more }], usage });
    return [
      chunk({ role: "assistant", content: "" }),
      ...inPieces(thought).map((piece) => chunk({ reasoning: piece, reasoning_content: piece })),
      ...inPieces(text).map((content) => chunk({ content })),
      ...calls.flatMap(({ name, input }, index) => [
        chunk({ content: null, tool_calls: [{ index, function: { name, arguments: "" } }] }),
        ...inPieces(JSON.stringify(input)).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({ content: "" }, { finish_reason: calls.length > 0 ? "tool_calls" : "stop", stop_reason: null }),
      frame({ ...base, choices: [], usage }),
      "data: [DONE]\n\n",
    ];
  },
};
