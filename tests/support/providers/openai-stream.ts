import type { ProviderAnswer } from "./provider-server.ts";

/** The body of a request, as far as tests look at it. */
export type ChatBody = {
  readonly [field: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly [field: string]: unknown }[];
};

/** What one chunk of the stream adds to the message. */
export type Delta = { readonly [field: string]: unknown };

/** The chunks as an answer of the server. `[DONE]` ends a stream that is whole. */
export function chunks(bodies: readonly object[], ending?: ProviderAnswer["ending"]): ProviderAnswer {
  const frames = bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`);
  return ending === undefined ? { frames: [...frames, "data: [DONE]\n\n"] } : { frames, ending };
}

/** The whole message as an answer of the server. */
export function chat(deltas: readonly Delta[], finish: string | null, usage: object | null = USAGE): ProviderAnswer {
  return chunks(chatStream(deltas, finish, usage));
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, prompt_tokens_details: { cached_tokens: 4 } };

/** The chunks of a message: its deltas, why it ended, and what it used. */
export function chatStream(deltas: readonly Delta[], finish: string | null, usage: object | null = USAGE): object[] {
  const chunk = (choices: readonly object[], counted: object | null): object => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "local",
    choices,
    usage: counted,
  });
  return [
    chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }], null),
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }], null)),
    ...(finish === null ? [] : [chunk([{ index: 0, delta: {}, finish_reason: finish }], null)]),
    ...(usage === null ? [] : [chunk([], usage)]),
  ];
}
