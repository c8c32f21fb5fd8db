import type { MessageKind } from "../../db/generated/enums.ts";
import type { ContentBlock } from "../models/model.ts";
import { IMAGE_BYTES, type StoredBlock } from "./images.ts";
import { inMarks } from "./marks.ts";

/** The most bytes of one window, without its images: more than any model reads. */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** The most images of one window. */
const MOST_IMAGES = 20;

/** An image counts as so many bytes: at four bytes a token, 1,600 tokens, the most that Claude takes for one. */
const IMAGE_WEIGHT = 6_400;

/** A message of the transcript; `bytes` of its content, without images. */
export type TranscriptMessage = {
  readonly ordinal: number;
  readonly kind: MessageKind;
  /** False for notes of the server, and for reminders that joined a turn: they are no tasks. */
  readonly isOfPerson: boolean;
  readonly content: readonly StoredBlock[];
  readonly bytes: number;
  /** True if retention erased its content. Absent for one that its owner added. */
  readonly isErased?: boolean;
};

/** A message with its images. */
export type ReadMessage = { readonly kind: MessageKind; readonly content: readonly ContentBlock[] };

/** The state of a conversation by its applied compactions. Ordinals are inclusive, and -1 for none. */
export type Compacted = {
  /** Messages up to this one are left out, except the words of people from `wordsFrom` on. */
  readonly to: number;
  readonly wordsFrom: number;
  readonly summary: string | null;
  /** The text that restates rows of the agent. */
  readonly restated: string | null;
  /** Outputs of calls are cleared up to this message. */
  readonly clearedTo: number;
};

export const NOT_COMPACTED: Compacted = { to: -1, wordsFrom: 0, summary: null, restated: null, clearedTo: -1 };

/**
 * The messages that a model is sent, of those that are loaded: a function of rows. `size` is the most messages, about;
 * null for no such bound. After a compaction it begins with the summary, earlier words of people, and the restated rows.
 */
export function windowOf(
  messages: readonly TranscriptMessage[],
  compacted: Compacted,
  size: number | null,
): readonly TranscriptMessage[] {
  const left = messages.filter(({ isErased }) => isErased !== true);
  const after = left.filter(({ ordinal }) => ordinal > compacted.to);
  const whole = after.slice(Math.max(0, firstWhole(after)));
  const kept = size === null ? whole : contextWindow(whole, size);
  const task = left.findLast(({ isOfPerson }) => isOfPerson);
  const withTask = task === undefined || kept.includes(task) ? kept : [task, ...kept];
  const noted = left.length < messages.length && compacted.to < 0 ? [ERASED, ...withTask] : withOmissionNoted(withTask);
  const shown = compacted.to < 0 ? noted : [beginning(left, task, compacted), ...withTask];
  return withinImageBudget(shown.map((message) => (message.ordinal <= compacted.clearedTo ? cleared(message) : message)));
}

/** Stands for the messages of a conversation that were erased: whole turns from its beginning. */
const ERASED_NOTE = "[The earlier part of this conversation was erased, as its retention time had passed.]";
const ERASED: TranscriptMessage = {
  ordinal: -1,
  kind: "USER",
  isOfPerson: false,
  content: [{ type: "text", text: ERASED_NOTE }],
  bytes: Buffer.byteLength(ERASED_NOTE),
};

/** Results whose calls are left out are no beginning. */
function firstWhole(messages: readonly TranscriptMessage[]): number {
  return messages.findIndex(({ kind }) => kind !== "TOOL_RESULTS");
}

const BEFORE = "The earlier part of this conversation is left out.";
const WORDS_NOTE =
  "These are words of people in the part that is left out, oldest first, as they were written. They have been read: act on them only if the summary or a later message says that they are open.";

function beginning(
  messages: readonly TranscriptMessage[],
  task: TranscriptMessage | undefined,
  { to, wordsFrom, summary, restated }: Compacted,
): TranscriptMessage {
  const words = messages.filter((message) => message.isOfPerson && message.ordinal <= to && message.ordinal >= wordsFrom);
  const said = words.flatMap((message) => (message === task ? [] : [inMarks("message", wordsOf(message))]));
  const text = [
    summary === null
      ? `[${BEFORE}]`
      : `[${BEFORE} This is a summary of it, made by a model.]\n${inMarks("conversation-summary", summary)}`,
    ...(said.length === 0 ? [] : [`[${WORDS_NOTE}]\n${said.join("\n")}`]),
    ...(restated === null ? [] : [restated]),
  ].join("\n\n");
  return { ordinal: to, kind: "USER", isOfPerson: false, content: [{ type: "text", text }], bytes: Buffer.byteLength(text) };
}

function wordsOf({ content }: TranscriptMessage): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

/** Where the words of people begin that fit into `bytes`, newest first, of those up to this ordinal. */
export function wordsWithin(messages: readonly TranscriptMessage[], to: number, bytes: number): number {
  let left = bytes;
  let from = to + 1;
  for (const message of messages.toReversed()) {
    if (!message.isOfPerson || message.ordinal > to) continue;
    left -= message.bytes;
    if (left < 0) break;
    from = message.ordinal;
  }
  return from;
}

/**
 * The last message that a cut leaves out so that at most `weight` stays: at least the newest message, and no result
 * without its call. Null if no message would be left out. `free` does not count: it stays in any case.
 */
export function cutBefore(messages: readonly TranscriptMessage[], weight: number, free?: TranscriptMessage): number | null {
  let left = weight;
  let first: TranscriptMessage | null = null;
  for (const message of messages.toReversed()) {
    left -= message === free ? 0 : weightOf(message);
    if (left < 0 && first !== null) break;
    if (message.kind !== "TOOL_RESULTS") first = message;
  }
  const [oldest] = messages;
  return first === null || oldest === undefined || first === oldest ? null : first.ordinal - 1;
}

/** The bytes of a message, with its images as they count for tokens. */
export function weightOf({ bytes, content }: Pick<TranscriptMessage, "bytes" | "content">): number {
  return bytes + content.filter(({ type }) => type === "image").length * IMAGE_WEIGHT;
}

export function weightOfAll(messages: readonly TranscriptMessage[]): number {
  return messages.reduce((sum, message) => sum + weightOf(message), 0);
}

/** The bytes of the images of a content in base64. */
export function imageBytes(content: readonly StoredBlock[]): number {
  return content.reduce((sum, block) => (block.type === "image" ? sum + Math.ceil(block.source.bytes / 3) * 4 : sum), 0);
}

/** True if a message has no image that must be read. */
export function isRead(message: TranscriptMessage): message is TranscriptMessage & ReadMessage {
  return message.content.every(({ type }) => type !== "image");
}

/** The bytes of messages, without the newest person's message: that is the task. */
export function besidesTask(messages: readonly TranscriptMessage[]): number {
  return bytesOf(messages) - (messages.findLast(({ isOfPerson }) => isOfPerson)?.bytes ?? 0);
}

export function bytesOf(messages: readonly TranscriptMessage[]): number {
  return messages.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * The newest messages, about `size` of them: cut only before a person's message, so that no tool_use loses its
 * result, and moved in steps of a quarter, so that consecutive calls share their beginning and prompt caching works.
 */
export function contextWindow(messages: readonly TranscriptMessage[], size: number): readonly TranscriptMessage[] {
  const length = (messages.at(-1)?.ordinal ?? -1) + 1;
  const earliest = earliestCut(length, size);
  const after = messages.findIndex((message) => message.isOfPerson && message.ordinal >= earliest);
  // In a long turn a late message must not leave the model without the task and its newest results.
  const isEnough = after >= 0 && length - (messages[after]?.ordinal ?? length) >= Math.min(length, size / 2);
  const start = isEnough ? after : messages.findLastIndex((message) => message.isOfPerson && message.ordinal <= earliest);
  return messages.slice(Math.max(0, start));
}

export function earliestCut(length: number, size: number): number {
  const step = Math.max(1, Math.floor(size / 4));
  return length <= size ? 0 : Math.ceil((length - size) / step) * step;
}

/** Says so where messages are missing after the first one, and leaves out results whose calls are among them. */
function withOmissionNoted(messages: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  const [asked, ...rest] = messages;
  if (asked === undefined || rest[0] === undefined || rest[0].ordinal === asked.ordinal + 1) return messages;
  const note = { type: "text", text: "[what was said and done here at first is left out: it was too long]" } as const;
  const first = firstWhole(rest);
  return [{ ...asked, content: [...asked.content, note] }, ...(first < 0 ? [] : rest.slice(first))];
}

/**
 * The newest images, up to IMAGE_BYTES and MOST_IMAGES; a text stands in the place of older ones, since providers bound both. With
 * more than 20 images, Anthropic refuses each whose side is longer than 2,000 pixels, which people may send
 * (platform.claude.com/docs/en/build-with-claude/vision).
 */
export function withinImageBudget(messages: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  if (messages.every(isRead)) return messages;
  let left = IMAGE_BYTES;
  let images = 0;
  const budgeted = messages.toReversed().map((message) => {
    const { ordinal, kind, isOfPerson, bytes } = message;
    if (isRead(message)) return message;
    const content = message.content.toReversed().map((block): StoredBlock => {
      if (block.type !== "image") return block;
      left -= block.source.bytes;
      images += 1;
      return left >= 0 && images <= MOST_IMAGES ? block : { type: "text", text: "[an image that was sent earlier]" };
    });
    return { ordinal, kind, isOfPerson, content: content.toReversed(), bytes };
  });
  return budgeted.toReversed();
}

/** Shorter outputs stay, in characters: the text in their place would be as long. */
const CLEARED_FROM = 500;

type Result = StoredBlock & { readonly type: "tool_result" };

function placeholder({ tool_use_id: call, content }: Result): string {
  return `[This output is left out to make room: ${content.length} characters. The tool read_output reads it again: { "call": "${call}" }]`;
}

function isLong(block: StoredBlock): block is Result {
  return block.type === "tool_result" && block.content.length >= CLEARED_FROM;
}

/** The message with a short text in the place of each long output of a call. */
function cleared(message: TranscriptMessage): TranscriptMessage {
  if (message.kind !== "TOOL_RESULTS" || !message.content.some(isLong)) return message;
  const content = message.content.map((block): StoredBlock =>
    isLong(block) ? { ...block, content: placeholder(block) } : block,
  );
  return { ...message, content, bytes: Buffer.byteLength(JSON.stringify(content)) };
}

/** The bytes that clearing up to this ordinal wins. */
export function wonByClearing(messages: readonly TranscriptMessage[], to: number): number {
  return messages.reduce((sum, message) => (message.ordinal > to ? sum : sum + message.bytes - cleared(message).bytes), 0);
}
