import type { MessageKind } from "../db/generated/enums.ts";
import type { Sql, Statement } from "../db/sql.ts";
import type { ContentBlock, ModelMessage } from "./models/model.ts";

/** The most images of one request, in characters of base64: providers take some 32 MB in all. */
const IMAGE_CHARACTERS = 20 * 1024 * 1024;

/** A message of the transcript. */
export type TranscriptMessage = {
  readonly ordinal: number;
  readonly kind: MessageKind;
  readonly content: readonly ContentBlock[];
};

/** Of a range with both ends the planner knows that it is small, and takes the index also where one agent has most rows. */
const LOAD: Statement = {
  name: "load_transcript",
  text: `SELECT ordinal, kind, content FROM message
    WHERE agent_id = $1 AND ordinal >= coalesce((SELECT max(ordinal) FROM message WHERE agent_id = $1 AND kind = 'USER' AND ordinal <= $2), 0) AND ordinal < $3
    ORDER BY ordinal`,
};

/**
 * Reads the part of the transcript that a window of `size` messages needs, of `length` messages in all. The rest of
 * a long conversation stays in the database.
 */
async function loadTranscript(sql: Sql, agentId: string, length: number, size: number): Promise<TranscriptMessage[]> {
  return sql.query<TranscriptMessage>(LOAD, [agentId, earliestCut(length, size), length]);
}

/** What the owner of an agent remembers of its conversation for its epoch: the rows are read once. */
export class Transcript {
  readonly #sql: Sql;
  readonly #agentId: string;
  #messages: TranscriptMessage[] | null = null;

  constructor(sql: Sql, agentId: string) {
    this.#sql = sql;
    this.#agentId = agentId;
  }

  /** The window of `size` messages that a model is given, of a conversation that is `transcriptLength` long now. */
  async modelMessages({ transcriptLength }: { readonly transcriptLength: number }, size: number): Promise<ModelMessage[]> {
    this.#messages ??= await loadTranscript(this.#sql, this.#agentId, transcriptLength, size);
    return modelMessages(withinImageBudget(contextWindow(this.#messages, size)));
  }

  /** Adds messages that the owner has committed. */
  remember(messages: readonly TranscriptMessage[]): void {
    this.#messages?.push(...messages);
  }

  /** Messages of people have joined, whose content the owner has not read: the rows are read again. */
  forget(): void {
    this.#messages = null;
  }
}

/**
 * The newest messages, about `size` of them: cut only before a person's message, so that no tool_use loses its
 * result, and moved in steps of a quarter, so that consecutive calls share their beginning and prompt caching works.
 */
export function contextWindow(messages: readonly TranscriptMessage[], size: number): readonly TranscriptMessage[] {
  const length = (messages.at(-1)?.ordinal ?? -1) + 1;
  const earliest = earliestCut(length, size);
  const after = messages.findIndex((message) => message.kind === "USER" && message.ordinal >= earliest);
  // In a long turn a late message must not leave the model without the task and its newest results.
  const isEnough = after >= 0 && length - (messages[after]?.ordinal ?? length) >= Math.min(length, size / 2);
  const start = isEnough ? after : messages.findLastIndex((message) => message.kind === "USER" && message.ordinal <= earliest);
  return messages.slice(Math.max(0, start));
}

function earliestCut(length: number, size: number): number {
  const step = Math.max(1, Math.floor(size / 4));
  return length <= size ? 0 : Math.ceil((length - size) / step) * step;
}

/** The newest images, up to IMAGE_CHARACTERS; a text stands in the place of older ones, since requests are bounded. */
export function withinImageBudget(messages: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  let left = IMAGE_CHARACTERS;
  const budgeted = messages.toReversed().map((message) => {
    if (message.content.every((block) => block.type !== "image")) return message;
    const content = message.content.toReversed().map((block): ContentBlock => {
      if (block.type !== "image") return block;
      left -= block.source.data.length;
      return left >= 0 ? block : { type: "text", text: "[an image that was sent earlier]" };
    });
    return { ordinal: message.ordinal, kind: message.kind, content: content.toReversed() };
  });
  return budgeted.toReversed();
}

/** The messages as a model reads them: neighbours of one role are one message. */
export function modelMessages(messages: readonly TranscriptMessage[]): ModelMessage[] {
  const merged: { role: "user" | "assistant"; content: ContentBlock[] }[] = [];
  for (const { kind, content } of messages) {
    const role = kind === "ASSISTANT" ? "assistant" : "user";
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content: [...content] });
  }
  return merged;
}
