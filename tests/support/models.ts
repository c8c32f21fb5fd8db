import { NO_TOKENS, type Model, type ModelEvent, type ModelRequest } from "../../src/agent/models/model.ts";

/** A model that the test plays itself: each call waits for the next player. */
export function playedModel(
  ...players: readonly ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>)[]
): Model & { readonly calls: { readonly request: ModelRequest; readonly signal: AbortSignal }[] } {
  const calls: { request: ModelRequest; signal: AbortSignal }[] = [];
  return {
    name: "played by the test",
    price: null,
    calls,
    stream(request, signal) {
      calls.push({ request, signal });
      const player = players[Math.min(calls.length, players.length) - 1];
      if (player === undefined) throw new Error("the test has no player");
      return player(request, signal);
    },
  };
}

/** Says the text and ends. */
export async function* says(text: string): AsyncGenerator<ModelEvent> {
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text };
  yield { type: "end", stopReason: "end_turn", usage: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 } };
}

/** Begins to say the text, and then never goes on, whatever its signal says. */
export async function* hangsAfter(text: string): AsyncGenerator<ModelEvent> {
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text };
  await new Promise<never>(() => {});
}

/** Calls the tools, with no arguments, and stops for them. */
export async function* calls(...names: readonly string[]): AsyncGenerator<ModelEvent> {
  yield* callsWith(...names.map((name) => [name, {}] as const));
}

/** Calls the tools with their arguments, and stops for them. */
export async function* callsWith(...made: readonly (readonly [name: string, input: object])[]): AsyncGenerator<ModelEvent> {
  for (const [block, [name, input]] of made.entries())
    yield { type: "tool_use", block, id: `call-${name}-${block}`, name, arguments: JSON.stringify(input) };
  yield { type: "end", stopReason: "tool_use", usage: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 } };
}
