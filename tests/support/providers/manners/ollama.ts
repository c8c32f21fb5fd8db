import { frame, inPieces, type Manner } from "../played-model.ts";
import { schemasIn } from "./messages.ts";

/**
 * Ollama's /v1, as ollama/ollama #5915, #15457, #17889 and pydantic/pydantic-ai #5206 tell: the role in every chunk, thoughts in
 * `reasoning`, each call whole in one chunk and all of them with the index 0, and null refused as content.
 */
export const ollama: Manner = {
  model: "qwen3:8b",
  refuses: (body) => {
    const refused = (message: string) => ({
      status: 400,
      body: { error: { message, type: "invalid_request_error", param: null, code: null } },
    });
    if (body.messages.some(({ content }) => content === null || content === undefined))
      return refused("invalid message content type: <nil>");
    if (/"pattern":"(?!\^)/.test(schemasIn(body))) return refused("Pattern must start with '^' and end with '$'");
    return null;
  },
  frames: ({ thought, text, calls }) => {
    const base = {
      id: "chatcmpl-768",
      object: "chat.completion.chunk",
      created: 1_744_445_346,
      model: "qwen3:8b",
      system_fingerprint: "fp_ollama",
    };
    const chunk = (delta: object, finish: string | null = null): string =>
      frame({ ...base, choices: [{ index: 0, delta: { role: "assistant", content: "", ...delta }, finish_reason: finish }] });
    return [
      ...inPieces(thought).map((reasoning) => chunk({ reasoning })),
      ...inPieces(text).map((content) => chunk({ content })),
      ...calls.map(({ name, input }, place) =>
        chunk({
          tool_calls: [
            { id: `call_${place}aaaaaa`, index: 0, type: "function", function: { name, arguments: JSON.stringify(input) } },
          ],
        }),
      ),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      frame({ ...base, choices: [], usage: { prompt_tokens: 26, completion_tokens: 5, total_tokens: 31 } }),
      "data: [DONE]\n\n",
    ];
  },
};
