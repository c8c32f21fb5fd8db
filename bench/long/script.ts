import type { JsonObject } from "../../src/lib/json.ts";
import { contentOf, objects, textIn } from "../../tests/support/providers/strict-conversation.ts";
import type { StreamBlock } from "../../tests/support/providers/anthropic-stream.ts";

/** The fact of turn 10, as people say it and summaries keep it. */
export const FACT = "FACT colour is blue";
/** The entry of memory that has it, too. */
export const MEMORY_PATH = "/memories/facts.md";
export const TODO = "paint the fence";
export const FILE = "notes.txt";
export const CHILD = "measure the fence";

/** The part of a summariser: it keeps lines that are marked as facts, or nothing. */
export type Summariser = "keeps" | "forgets";

/** A conversation of so many turns with a model whose window has so many tokens. */
export type Conversation = { readonly turns: number; readonly window: number };

/** The turn in which the fact is asked for again. */
export function recalledAt({ turns }: Conversation): number {
  return turns - 10;
}

/**
 * The message of a person at a turn: the model does as its first words say. Of 100 turns 25 have a long output; of 1,000 turns there
 * are 100 which all have one, so that clearing outputs is enough.
 */
export function messageOf(turn: number, conversation: Conversation): string {
  const words = (share: number): string => "m".repeat(4 * conversation.window * share);
  const said = (does: string, rest = ""): string => `turn ${turn}: ${does}. ${rest}`;
  if (turn === recalledAt(conversation)) return said("recall");
  if (turn === 10) return said("talk", `${FACT}. ${words(0.002)}`);
  const [, does] = BEGINNING.find(([at]) => at === turn) ?? [];
  if (does !== undefined) return said(does);
  const looks = (turn % 100 >= 50 && turn % 100 < 75) || (turn % 1_000 >= 300 && turn % 1_000 < 400);
  return looks ? said("look") : said("talk", words(0.002));
}

/** The work at the beginning whose rows must be there at the end. */
const BEGINNING = [
  [1, "plan"],
  [2, "delegate"],
  [3, "deploy"],
  [4, "write"],
  [11, "remember"],
] as const;

/** The calls by the words that ask for them. */
const CALLS: Readonly<Record<string, readonly [tool: string, input: object]>> = {
  plan: ["todo_write", { todos: [{ id: "1", title: TODO, status: "in_progress" }] }],
  delegate: ["task_run", { description: CHILD, prompt: "turn 0: talk.", agentTemplateId: "child" }],
  deploy: ["deploy", {}],
  write: ["fs_write", { path: FILE, content: "The fence is long." }],
  remember: ["memory", { command: "create", path: MEMORY_PATH, file_text: FACT }],
  recall: ["memory", { command: "view", path: MEMORY_PATH }],
  look: ["look", {}],
};

/** The answer to a request: a call, or a text once its results are there. `turn` is 0 for other agents than that of the conversation. */
export function answerTo(body: JsonObject, requests: number): { readonly turn: number; readonly block: StreamBlock } {
  const messages = objects(body["messages"]);
  for (const [back, message] of messages.toReversed().entries())
    for (const { text } of contentOf(message).toReversed()) {
      const [, turn, does = ""] = /^turn (\d+): (\w+)\./.exec(textIn(text)) ?? [];
      if (turn === undefined) continue;
      const call = back === 0 ? CALLS[does] : undefined;
      const block: StreamBlock =
        call === undefined
          ? { text: [`Turn ${turn} is done. `, "It went well. ".repeat(20)] }
          : { tool: call[0], id: `toolu_${requests}`, json: [JSON.stringify(call[1])] };
      return { turn: Number(turn), block };
    }
  throw new Error("a request has no message of a person");
}

/** A summary: the distinct facts of the conversation and of the earlier summary, or no word of them. */
export function summaryOf(body: JsonObject, summariser: Summariser): string {
  const facts = JSON.stringify(body["messages"]).match(/FACT [a-z]+ is [a-z]+/g) ?? [];
  return summariser === "forgets" || facts.length === 0 ? "Nothing is known." : [...new Set(facts)].join("\n");
}
