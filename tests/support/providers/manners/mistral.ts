import { frame, inPieces, type Manner } from "../played-model.ts";
import { callsIn, pairs } from "./messages.ts";

/**
 * Mistral's API, as agentjido/req_llm #742, mistralai/client-python #16, comet-ml/opik #7385, crush #1590 and zed #37021 tell: thoughts as
 * parts of the content, calls whole and in one chunk without a type, unknown fields refused with an object in the place of words, and
 * an order of roles that refuses a person right after a tool.
 */
export const mistral: Manner = {
  model: "mistral-medium-latest",
  refuses: (body) => {
    const refused = (message: string, type: string, code: string) => ({
      status: 400,
      body: { object: "error", message, type, param: null, code, raw_status_code: 400 },
    });
    for (const [before, message] of pairs(body))
      if (before.role === "tool" && message.role === "user")
        return refused("Unexpected role 'user' after role 'tool'", "invalid_request_message_order", "3230");
    const extra = body.messages.flatMap((message, index) =>
      Object.keys(message).flatMap((key) =>
        ["role", "content", "tool_calls", "tool_call_id", "name"].includes(key)
          ? []
          : [{ type: "extra_forbidden", loc: ["body", "messages", index, key], msg: "Extra inputs are not permitted" }],
      ),
    );
    if (extra.length > 0)
      return {
        status: 422,
        body: { object: "error", message: { detail: extra }, type: "invalid_request_error", param: null, code: null },
      };
    if ("max_completion_tokens" in body)
      return { status: 422, body: { detail: [{ type: "extra_forbidden", loc: ["body", "max_completion_tokens"] }] } };
    const wrong = callsIn(body).find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
    if (wrong !== undefined)
      return refused(
        `Tool call id was ${String(wrong["id"])} but must be a-z, A-Z, 0-9, with a length of 9.`,
        "invalid_function_call",
        "3280",
      );
    return body.messages.at(-1)?.role === "assistant"
      ? refused(
          "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
          "invalid_request_error",
          "3230",
        )
      : null;
  },
  frames: ({ thought, text, calls }) => {
    const base = {
      id: "c3c77283055240cbbaf6f01d384cfccb",
      object: "chat.completion.chunk",
      created: 1_762_355_135,
      model: "mistral-medium-latest",
    };
    const usage = { prompt_tokens: 4, total_tokens: 6, completion_tokens: 2 };
    const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
      frame({ ...base, choices: [{ index: 0, delta, finish_reason: finish }], ...more });
    const part = (piece: string): object => ({ type: "thinking", thinking: [{ type: "text", text: piece }] });
    return [
      chunk({ role: "assistant", content: "" }),
      ...inPieces(thought).map((piece) => chunk({ content: [part(piece)] })),
      chunk({
        content: [
          { type: "thinking", thinking: [], closed: true },
          ...(text === "" ? [] : [{ type: "text", text: text.slice(0, 1) }]),
        ],
      }),
      ...inPieces(text.slice(1)).map((content) => chunk({ content })),
      calls.length === 0
        ? chunk({ content: "" }, "stop", { usage })
        : chunk(
            {
              content: "",
              tool_calls: calls.map(({ name, input }, index) => ({
                id: `UByW1YDu${index}`,
                function: { name, arguments: JSON.stringify(input) },
                index,
              })),
            },
            "tool_calls",
            { usage },
          ),
      "data: [DONE]\n\n",
    ];
  },
};
