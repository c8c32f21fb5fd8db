import { frame, inPieces, type Manner } from "../played-model.ts";
import { callingAnswers } from "./messages.ts";

/**
 * OpenRouter, as its documentation, huggingface/responses.js #19, OpenRouterTeam/ai-sdk-provider #289 and pi #6378 tell: comments at any
 * time, thoughts as text and as details whose signature comes last and must come back with the calls, and usage beside a choice that
 * says nothing.
 */
export const openRouter: Manner = {
  model: "anthropic/claude-sonnet",
  refuses: (body) => {
    const unsigned = callingAnswers(body).some(
      ({ reasoning_details }) => !JSON.stringify(reasoning_details ?? "").includes('"signature":"ErUB"'),
    );
    if (!unsigned) return null;
    const raw = JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "messages.1.content.0: expected thinking" },
    });
    return {
      status: 400,
      body: { error: { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "Anthropic" } } },
    };
  },
  frames: ({ thought, text, calls }) => {
    const base = {
      id: "gen-1739458867",
      provider: "Anthropic",
      model: "anthropic/claude-sonnet",
      object: "chat.completion.chunk",
      created: 1,
    };
    const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
      frame({
        ...base,
        choices: [
          {
            index: 0,
            delta: { role: "assistant", content: "", ...delta },
            finish_reason: finish,
            native_finish_reason: finish,
            logprobs: null,
          },
        ],
        ...more,
      });
    const details = (detail: object): object[] => [
      { type: "reasoning.text", ...detail, format: "anthropic-claude-v1", index: 0 },
    ];
    return [
      ": OPENROUTER PROCESSING\n\n",
      chunk({}),
      ...inPieces(thought).map((piece) => chunk({ reasoning: piece, reasoning_details: details({ text: piece }) })),
      chunk({ reasoning: null, reasoning_details: details({ signature: "ErUB" }) }),
      ...inPieces(text).flatMap((content) => [": OPENROUTER PROCESSING\n\n", chunk({ content })]),
      ...calls.flatMap(({ name, input }, index) => [
        chunk({
          content: null,
          tool_calls: [{ index, id: `toolu_${index}`, type: "function", function: { name, arguments: "" } }],
        }),
        ...inPieces(JSON.stringify(input)).map((piece) =>
          chunk({ content: null, tool_calls: [{ index, type: "function", function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      chunk({}, null, {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 1,
          total_tokens: 10,
          cost: 0.000_002_1,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      }),
      "data: [DONE]\n\n",
    ];
  },
};
