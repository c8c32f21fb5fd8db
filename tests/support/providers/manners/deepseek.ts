import { frame, inPieces, type Manner } from "../played-model.ts";
import { callingAnswers, hasImage, pairs } from "./messages.ts";

/**
 * DeepSeek's API, as deepseek-ai/DeepSeek-V3 #1053, continue #10193, opencode #24722, gptme #3421 and DeepSeek-Reasonix #7859 tell: keep-alives
 * before the answer, null beside each field that says nothing, usage beside the end, no images, and every answer with calls sent
 * back with the thoughts that led to it.
 */
export const deepseek: Manner = {
  model: "deepseek-v4-pro",
  refuses: (body) => {
    const refused = (message: string) => ({
      status: 400,
      body: { error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" } },
    });
    const lacking = callingAnswers(body).find(
      ({ reasoning_content }) => typeof reasoning_content !== "string" || reasoning_content === "",
    );
    if (lacking !== undefined) return refused("Missing `reasoning_content` field in the assistant message at message index 2.");
    if (pairs(body).some(([before, { role }]) => Array.isArray(before["tool_calls"]) && role !== "tool"))
      return refused(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
      );
    return body.messages.some(hasImage)
      ? refused(
          "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 690848",
        )
      : null;
  },
  frames: ({ thought, text, calls }) => {
    const base = {
      id: "f9b3c9a2-1",
      object: "chat.completion.chunk",
      created: 1_782_789_354,
      model: "deepseek-v4-pro",
      system_fingerprint: "fp_x",
    };
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 20,
      total_tokens: 29,
      prompt_cache_hit_tokens: 4,
      prompt_cache_miss_tokens: 5,
    };
    const chunk = (delta: object, finish: string | null = null): string =>
      frame({
        ...base,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        usage: finish === null ? null : usage,
      });
    return [
      ": keep-alive\n\n",
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      ...inPieces(thought).map((reasoning_content) => chunk({ content: null, reasoning_content })),
      ...inPieces(text).map((content) => chunk({ content, reasoning_content: null })),
      ...calls.flatMap(({ name, input }, index) => [
        chunk({
          content: null,
          tool_calls: [
            { index, id: `call_0${index}_9nLfpIQ6VO1JCaEsJcU8WZnS`, type: "function", function: { name, arguments: "" } },
          ],
        }),
        ...inPieces(JSON.stringify(input)).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({ content: "", reasoning_content: null }, calls.length > 0 ? "tool_calls" : "stop"),
      "data: [DONE]\n\n",
    ];
  },
};
