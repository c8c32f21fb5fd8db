import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isJsonObject, type Json } from "../../lib/json.ts";
import { pieces } from "../../lib/text.ts";
import {
  ModelError,
  NO_TOKENS,
  type ContentBlock,
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type TokenPrice,
} from "./model.ts";
import type { Script, ScriptLine, ScriptReply } from "./script.ts";

type Fields = Readonly<Record<string, string>>;
type Scene = { readonly values: Fields; readonly found: readonly Fields[] };

const UNPACED = { characters: Number.MAX_SAFE_INTEGER, delayMs: 0 };

/**
 * A model that plays a script, for people without a key, tests and frontends. It keeps no state: the conversation alone
 * decides the reply. `window`: the tokens that it reads at most, a token for each four characters; null for any number.
 */
export function scriptedModel(
  name: string,
  script: Script,
  price: TokenPrice | null = null,
  window: number | null = null,
): Model {
  return {
    name: `scripted ${name}`,
    price,
    window: () => window,
    async *stream(request, signal) {
      const [reply, scene] = chooseReply(script, request);
      // With a window, system prompt and tools count as with a provider.
      const inputTokens = Math.ceil((JSON.stringify(request.messages).length + (window === null ? 0 : fixedLength(request))) / 4);
      if (window !== null && inputTokens > window)
        throw new ModelError("too_long", `prompt is too long: ${inputTokens} tokens > ${window} maximum`);
      const counted = { ...NO_TOKENS, inputTokens };
      yield { type: "counted", usage: counted };
      let block = 0;
      let written = 0;
      const pace = script.pace ?? UNPACED;
      if (reply.think !== undefined) {
        yield* paced("thinking", fill(reply.think, scene.values), block, pace, signal);
        yield { type: "thinking_end", block, signature: null, redacted: null };
        written += reply.think.length;
        block += 1;
      }
      const text = (reply.say ?? []).map((line) => speak(line, scene)).join("");
      if (text !== "") {
        yield* paced("text", text, block, pace, signal);
        written += text.length;
        block += 1;
      }
      if (reply.fail !== undefined) throw new ModelError("rejected", fill(reply.fail, scene.values));
      for (const call of reply.call ?? []) {
        const args = call.arguments ?? JSON.stringify(fillJson(call.input ?? {}, scene));
        yield { type: "tool_use", block, id: `scripted_${randomUUID()}`, name: call.tool, arguments: args };
        written += args.length;
        block += 1;
      }
      const stopReason = reply.stop ?? ((reply.call ?? []).length > 0 ? "tool_use" : "end_turn");
      yield { type: "end", stopReason, usage: { ...counted, outputTokens: Math.ceil(written / 4) } };
    },
  };
}

/** The characters of the system prompt, the tools and the shape, as a provider is sent them. Tools carry more for the server. */
function fixedLength({ system, tools, shape }: ModelRequest): number {
  const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return system.length + JSON.stringify(sent).length + (shape === null ? 0 : JSON.stringify(shape).length);
}

async function* paced(
  kind: "text" | "thinking",
  text: string,
  block: number,
  pace: { characters: number; delayMs: number },
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  yield { type: `${kind}_start`, block };
  for (const piece of pieces(text, pace.characters)) {
    signal.throwIfAborted();
    if (pace.delayMs > 0) await delay(pace.delayMs, undefined, { signal });
    yield { type: `${kind}_delta`, block, text: piece };
  }
}

function chooseReply(script: Script, request: ModelRequest): [ScriptReply, Scene] {
  for (const reply of script.replies) {
    const scene = sceneOf(reply, request.messages);
    if (scene !== null) return [reply, scene];
  }
  throw new ModelError("rejected", "the script has no reply to this conversation: add one, for example with an empty `when`");
}

function sceneOf(reply: ScriptReply, messages: readonly ModelMessage[]): Scene | null {
  const newest = messages.at(-1)?.content ?? [];
  const texts = newest.flatMap((block) => (block.type === "text" && !isNote(block.text) ? [block.text] : []));
  const said = texts.at(-1) ?? "";
  let values: Fields = { user: said };
  if (reply.when.user !== undefined) {
    const match = said === "" ? null : new RegExp(reply.when.user, "is").exec(said);
    if (match === null) return null;
    values = { ...values, ...match.groups };
  }
  if (reply.when.result !== undefined) {
    const result = resultOf(reply.when.result, newest, messages);
    if (result === undefined || (reply.when.isError !== undefined && reply.when.isError !== result.is_error)) return null;
    values = { ...values, result: result.content };
  }
  const found = reply.find === undefined ? [] : findLines(reply.find, messages);
  if (found.length < (reply.when.atLeast ?? 0) || found.length > (reply.when.atMost ?? Infinity)) return null;
  return { values: { ...values, count: String(found.length) }, found };
}

/** True for a note of the server, which no person wrote: it is in brackets. */
function isNote(text: string): boolean {
  return text.startsWith("[") && /\]$/m.test(text);
}

type ToolResultBlock = ContentBlock & { type: "tool_result" };

function resultOf(tool: string, blocks: readonly ContentBlock[], messages: readonly ModelMessage[]): ToolResultBlock | undefined {
  const calls = new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" && block.name === tool ? [block.id] : [])),
    ),
  );
  return blocks.find((block): block is ToolResultBlock => block.type === "tool_result" && calls.has(block.tool_use_id));
}

function findLines({ result, line }: { result: string; line: string }, messages: readonly ModelMessage[]): Fields[] {
  const pattern = new RegExp(line);
  for (const { content } of messages.toReversed()) {
    const block = resultOf(result, content, messages);
    if (block === undefined) continue;
    return block.content.split("\n").flatMap((candidate) => {
      const match = pattern.exec(candidate);
      return match === null ? [] : [{ ...match.groups }];
    });
  }
  return [];
}

function speak(line: ScriptLine, { values, found }: Scene): string {
  if (typeof line === "string") return fill(line, values);
  return found.map((item, index) => fill(line.each, { ...values, ...item, index: String(index + 1) })).join("");
}

/** `{ "each": template }` in the place of an array becomes one entry for each line found. */
function fillJson(template: Json, scene: Scene): Json {
  if (typeof template === "string") return fill(template, scene.values);
  if (Array.isArray(template)) return template.map((item: Json) => fillJson(item, scene));
  if (!isJsonObject(template)) return template;
  const each = template["each"];
  if (each !== undefined && Object.keys(template).length === 1) {
    return scene.found.map((item, index) =>
      fillJson(each, { values: { ...scene.values, ...item, index: String(index + 1) }, found: [] }),
    );
  }
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillJson(value, scene)]));
}

function fill(text: string, values: Fields): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
