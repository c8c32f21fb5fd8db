import { createHash, type Hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { RequestPart, SentChange, SentRecord } from "../../db/commit/sent-rows.ts";
import { storableJson, storableValue } from "../../lib/json.ts";
import type { ContentBlock, ModelMessage, ModelRequest, ToolDescription } from "../models/model.ts";
import { storedImage, type StoredBlock } from "./images.ts";

/** A message as it is recorded: an image stands there by its digest. */
export type SentMessage = { readonly role: ModelMessage["role"]; readonly content: readonly StoredBlock[] };

/** The settings of a request, without `isFirstOfTurn`: they are the same in many steps. */
export type SentSettings = Pick<ModelRequest, "exposeThinking" | "settings" | "shape">;

/** The fixed parts of a request: all but the messages. `contextMessages` is the bound of its window, which is no part of it. */
export type SentFrame = SentSettings & {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
  readonly contextMessages: number | null;
};

/** The row of a frame: `system` and `tools` by their digests. */
export type FrameRow = SentSettings & {
  readonly system: string;
  readonly tools: string;
  readonly contextMessages: number | null;
};

/** The frame of requests, with its row and those of its parts. */
type KeptFrame = SentFrame & { readonly digest: string; readonly parts: readonly RequestPart[] };

/** The record of a step's request. `parts` are rows that are kept once a tenant. */
export type Sent = { readonly record: SentRecord; readonly parts: readonly RequestPart[] };

type Window = { readonly messages: readonly ModelMessage[]; readonly contextMessages: number | null; readonly length: number };

/**
 * Records the requests of an agent, one after another. The hash is the SHA-256 over the RFC 8785 form
 * `{ messages, settings, system, tools }`. Messages come first, so that those of the last request are not read again.
 */
export class SentRequests {
  #frame: KeptFrame | null = null;
  /** The messages that `#hash` has read: those of the last request without its last one, which may have grown since. */
  #messages: readonly ModelMessage[] = [];
  #hash = begun();

  /** `window` has the messages as rows make them, before the hooks; `length` is that of the conversation, in messages. */
  record(request: ModelRequest, window: Window): Sent {
    const { isFirstOfTurn } = request;
    const { contextMessages, length } = window;
    const frame = this.#frameOf({ ...request, contextMessages });
    const changed = changeOf(window.messages, request.messages);
    const record = { hash: this.#hashOf(request), frame: frame.digest, length, isFirstOfTurn };
    return { record: changed === null ? record : { ...record, changed }, parts: frame.parts };
  }

  #frameOf(frame: SentFrame): KeptFrame {
    if (this.#frame === null || !isSameFrame(this.#frame, frame)) this.#frame = keptFrame(frame);
    return this.#frame;
  }

  #hashOf({ messages, ...rest }: ModelRequest): string {
    const settled = messages.slice(0, -1);
    const goesOn = this.#messages.every((message, index) => isSameMessage(message, settled[index]));
    const hash = goesOn ? this.#hash : begun();
    for (const [index, message] of settled.entries())
      if (!goesOn || index >= this.#messages.length) addMessage(hash, message, index);
    this.#messages = settled;
    this.#hash = hash;
    const whole = hash.copy();
    messages.slice(-1).forEach((message) => addMessage(whole, message, settled.length));
    return whole.update(endOf(rest)).digest("hex");
  }
}

/** The hash of a request that is made of rows again. */
export function hashOfRequest(messages: readonly SentMessage[], rest: Omit<ModelRequest, "messages">): string {
  const hash = begun();
  messages.forEach((message, index) => hash.update(`${index === 0 ? "" : ","}${canonical(message)}`));
  return hash.update(endOf(rest)).digest("hex");
}

/** The messages that hooks made of a window: `messages` in the place of those between `from` and the last `kept` ones. */
function changeOf(window: readonly ModelMessage[], sent: readonly ModelMessage[]): SentChange | null {
  if (window === sent) return null;
  const most = Math.min(window.length, sent.length);
  let from = 0;
  while (from < most && isSameText(window[from], sent[from])) from += 1;
  let kept = 0;
  while (kept < most - from && isSameText(window.at(-1 - kept), sent.at(-1 - kept))) kept += 1;
  if (from + kept === window.length && window.length === sent.length) return null;
  return { from, kept, messages: sent.slice(from, sent.length - kept).map(sentMessage) };
}

/** Puts changes of hooks back into a window that is made of rows again. */
export function withChange(window: readonly SentMessage[], changed: SentChange<SentMessage> | undefined): readonly SentMessage[] {
  if (changed === undefined) return window;
  const { from, kept, messages } = changed;
  return [...window.slice(0, from), ...messages, ...window.slice(window.length - kept)];
}

export function sentMessage({ role, content }: ModelMessage): SentMessage {
  return { role, content: content.map(sentBlock) };
}

function sentBlock(block: ContentBlock): StoredBlock {
  return block.type === "image" ? storedImage(block.source.media_type, block.source.data).block : block;
}

function keptFrame(frame: SentFrame): KeptFrame {
  const { exposeThinking, settings, shape, contextMessages } = frame;
  const system = partOf(frame.system, canonical(frame.system));
  const { part: tools } = listOf(frame.tools);
  const row: FrameRow = { exposeThinking, settings, shape, contextMessages, system: system.digest, tools: tools.digest };
  const own = partOf(row, canonical(row));
  return { ...frame, digest: own.digest, parts: [own, system, tools] };
}

/** The body keeps the order of members, since an adapter sends them in it. */
function partOf(value: unknown, form: string): RequestPart {
  return { digest: createHash("sha256").update(form).digest("hex"), body: storableJson(value) };
}

/** Tools and templates are the same objects in each step. */
function isSameFrame(one: SentFrame, other: SentFrame): boolean {
  return (
    one.system === other.system &&
    one.settings === other.settings &&
    one.shape === other.shape &&
    one.exposeThinking === other.exposeThinking &&
    one.contextMessages === other.contextMessages &&
    areSame(one.tools, other.tools)
  );
}

function begun(): Hash {
  return createHash("sha256").update('{"messages":[');
}

function addMessage(hash: Hash, message: ModelMessage, index: number): void {
  hash.update(`${index === 0 ? "" : ","}${canonical(sentMessage(message))}`);
}

function endOf({ exposeThinking, isFirstOfTurn, settings, shape, system, tools }: Omit<ModelRequest, "messages">): string {
  const all = canonical({ exposeThinking, isFirstOfTurn, settings, shape });
  return `],"settings":${all},"system":${canonical(system)},"tools":${listOf(tools).text}}`;
}

function described({ name, description, inputSchema }: ToolDescription): ToolDescription {
  return { name, description, inputSchema };
}

type ToolList = { readonly tools: readonly ToolDescription[]; readonly text: string; readonly part: RequestPart };

/** The list that a first tool began last: agents of a template have the same tools in each step. */
const LISTS = new WeakMap<ToolDescription, ToolList>();
const NO_TOOLS: ToolList = { tools: [], text: "[]", part: partOf([], "[]") };

function listOf(tools: readonly ToolDescription[]): ToolList {
  const [first] = tools;
  if (first === undefined) return NO_TOOLS;
  const known = LISTS.get(first);
  if (known !== undefined && areSame(known.tools, tools)) return known;
  const text = `[${tools.map((tool) => canonical(described(tool))).join(",")}]`;
  const list = { tools, text, part: partOf(tools.map(described), text) };
  LISTS.set(first, list);
  return list;
}

function areSame(some: readonly ToolDescription[], others: readonly ToolDescription[]): boolean {
  return some === others || (some.length === others.length && some.every((tool, index) => tool === others[index]));
}

/** The RFC 8785 form. Lone surrogates, which have none, and NUL are replaced as they are where rows keep them. */
function canonical(value: unknown): string {
  const text = canonicalize(storableValue(value));
  if (text === undefined) throw new Error("a part of a request has no JSON form");
  return text;
}

/** Remembered messages keep their blocks; those that are made for each window have the same texts. */
function isSameMessage(one: ModelMessage, other: ModelMessage | undefined): boolean {
  return (
    other !== undefined &&
    one.role === other.role &&
    one.content.length === other.content.length &&
    one.content.every((block, index) => isSameBlock(block, other.content[index]))
  );
}

function isSameBlock(one: ContentBlock, other: ContentBlock | undefined): boolean {
  if (one === other) return true;
  if (one.type === "text") return other?.type === "text" && one.text === other.text;
  if (one.type === "image")
    return other?.type === "image" && one.source.data === other.source.data && one.source.media_type === other.source.media_type;
  return (
    one.type === "tool_result" &&
    other?.type === "tool_result" &&
    one.tool_use_id === other.tool_use_id &&
    one.is_error === other.is_error &&
    one.content === other.content
  );
}

function isSameText(one: ModelMessage | undefined, other: ModelMessage | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return isSameMessage(one, other) || canonical(sentMessage(one)) === canonical(sentMessage(other));
}
