import { LRUCache } from "lru-cache";
import type { OwnerChange } from "../../db/commit/change.ts";
import type { MessageKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { IMAGE_BYTES, storedBlocks, type Images, type StoredBlock } from "./images.ts";
import type { ContentBlock, ModelMessage } from "../models/model.ts";

/** The most bytes of one window, without its images: more than any model reads. */
const WINDOW_BYTES = 8 * 1024 * 1024;
/** No window is made shorter than that since a model has said that it is too long, in bytes. */
const LEAST_WINDOW_BYTES = 1_024;
/** The share of its room that a window takes when it is read: it grows by the rest before it is read again, and begins later. */
const READ_SHARE = 0.75;
/** The agents whose window was made shorter that a server remembers. */
const SHORTENED = 10_000;

/** The most images of one window. */
const MOST_IMAGES = 20;

/** The room for the windows that the owners of a server remember, of all its agents; and what a message takes besides its bytes. */
const REMEMBERED_BYTES = 256 * 1024 * 1024;
const MESSAGE_BYTES = 500;

/** A message of the transcript; `bytes` of its content, without images. */
export type TranscriptMessage = {
  readonly ordinal: number;
  readonly kind: MessageKind;
  /** False for notes of the server, and for reminders that joined a turn: they are no tasks. */
  readonly isOfPerson: boolean;
  readonly content: readonly StoredBlock[];
  readonly bytes: number;
};

/** A message with its images. */
type ReadMessage = { readonly kind: MessageKind; readonly content: readonly ContentBlock[] };

/** True for a message `m` that gives the agent a task: one of a person, or the reminder with which a turn began. */
const IS_TASK = `(m.created_by IS NOT NULL AND (m.kind <> 'REMINDER'
    OR NOT EXISTS (SELECT FROM message p WHERE p.agent_id = m.agent_id AND p.ordinal = m.ordinal - 1 AND p.turn = m.turn)))`;

/**
 * The newest person's message before the earliest cut, and what came after it; of that, the newest `$4` bytes, and at
 * least the last answer with its results, as well as the person's message that they belong to, if they do not begin with one.
 * Of a range with both ends the planner knows that it is small, and takes the index even if one agent has most rows.
 */
const LOAD: Statement<TranscriptMessage, [agentId: string, earliest: number, length: number, bytes: number]> = {
  name: "load_transcript",
  text: `WITH range AS (
      SELECT coalesce((SELECT m.ordinal FROM message m WHERE m.agent_id = $1 AND ${IS_TASK} AND m.ordinal <= $2 ORDER BY m.ordinal DESC LIMIT 1), 0) AS first
    ), sized AS (
      SELECT m.ordinal, m.kind, ${IS_TASK} AS is_of_person, sum(m.bytes) OVER (ORDER BY m.ordinal DESC) AS bytes
      FROM message m WHERE m.agent_id = $1 AND m.ordinal >= (SELECT first FROM range) AND m.ordinal < $3
    ), kept AS (
      SELECT least(
          coalesce(max(ordinal) FILTER (WHERE bytes > $4) + 1, 0), $3 - 1,
          CASE WHEN max(ordinal) FILTER (WHERE kind = 'ASSISTANT') > max(ordinal) FILTER (WHERE is_of_person)
            OR max(ordinal) FILTER (WHERE kind = 'TOOL_RESULTS') > max(ordinal) FILTER (WHERE kind = 'ASSISTANT')
            THEN max(ordinal) FILTER (WHERE kind = 'ASSISTANT') END
        ) AS first FROM sized
    ), asked AS (
      SELECT max(ordinal) AS ordinal FROM sized WHERE is_of_person AND ordinal < (SELECT first FROM kept)
        AND NOT (SELECT s.is_of_person FROM sized s WHERE s.ordinal = (SELECT first FROM kept))
    )
    SELECT ordinal, kind, ${IS_TASK} AS "isOfPerson", content, bytes FROM message m
    WHERE agent_id = $1 AND ordinal >= (SELECT first FROM range) AND ordinal < $3
      AND (ordinal >= (SELECT first FROM kept) OR ordinal = (SELECT ordinal FROM asked))
    ORDER BY ordinal`,
};

/** Messages that an owner adds to a conversation: their rows. */
export type AddedMessages = NonNullable<OwnerChange["messages"]>;

/** The part of a conversation that a model is given. */
export type Window = {
  /** The bytes of it: texts as they are stored, images in base64. */
  readonly bytes: number;
  /** Reads its images, and gives the whole as a model reads it. */
  readonly messages: () => Promise<ModelMessage[]>;
};

/** The room of the windows of one agent that a model reads, in bytes. */
type ShortRoom = { readonly model: string; readonly bytes: number };

/** The length of a conversation now, in messages. */
type Conversation = { readonly transcriptLength: number };

/** The windows that the owners of this server remember: those used last, within one room. */
export class Transcripts {
  readonly #images: Images;
  readonly #remembered: LRUCache<Transcript, readonly TranscriptMessage[]>;
  /** The rooms of windows that were too long for a model, by agent. */
  readonly #shortened = new LRUCache<string, ShortRoom>({ max: SHORTENED });

  /** `room` in bytes. */
  constructor(images: Images, room: number = REMEMBERED_BYTES) {
    this.#images = images;
    this.#remembered = new LRUCache({
      maxSize: room,
      sizeCalculation: (messages) => bytesOf(messages) + messages.length * MESSAGE_BYTES + 1,
    });
  }

  /** The bytes that are remembered now. */
  get bytes(): number {
    return this.#remembered.calculatedSize;
  }

  /** The transcript of an agent, for its owner's epoch. */
  of(sql: Sql, tenant: string, agentId: string): Transcript {
    return new Transcript({ sql, tenant, agentId }, this.#images, this.#remembered, this.#shortened);
  }
}

/** The conversation of an agent as its owner reads it. What the owner has committed itself is not read again. */
export class Transcript {
  readonly #of: { readonly sql: Sql; readonly tenant: string; readonly agentId: string };
  readonly #images: Images;
  readonly #remembered: LRUCache<Transcript, readonly TranscriptMessage[]>;
  readonly #shortened: LRUCache<string, ShortRoom>;
  /** The name of the model that reads the windows. */
  #model = "";
  /** The bytes of the window that was made last, besides its task. */
  #given = 0;
  /** The room that windows had before one was made shorter; null if none was since the model's last answer. */
  #roomBefore: number | null = null;
  /** Counts what was committed or forgotten: what was read before it is not remembered. */
  #changes = 0;

  constructor(
    of: { readonly sql: Sql; readonly tenant: string; readonly agentId: string },
    images: Images,
    remembered: LRUCache<Transcript, readonly TranscriptMessage[]>,
    shortened: LRUCache<string, ShortRoom>,
  ) {
    this.#of = of;
    this.#images = images;
    this.#remembered = remembered;
    this.#shortened = shortened;
  }

  /** The most bytes of a window besides its task, without its images. */
  get #room(): number {
    const short = this.#shortened.get(this.#of.agentId);
    return short?.model === this.#model ? short.bytes : WINDOW_BYTES;
  }

  /** The model of this name reads the windows from now on. */
  readBy(model: string): void {
    const before = this.#room;
    if (this.#model !== model) this.#roomBefore = null;
    this.#model = model;
    if (this.#room !== before) this.invalidate();
  }

  /** The window of `size` messages that a model is given, of a conversation that is `transcriptLength` long now. */
  async window({ transcriptLength }: Conversation, size: number): Promise<Window> {
    let messages = this.#remembered.get(this);
    if (messages === undefined) {
      const before = this.#changes;
      messages = await this.#load(transcriptLength, size);
      if (this.#changes === before) this.#remembered.set(this, messages);
    }
    return this.#windowOf(messages, size);
  }

  /** The same with messages that are not committed yet; null if rows would have to be read for it: it is not remembered, or too long by then. */
  windowWith(added: AddedMessages, size: number): Window | null {
    const messages = this.#remembered.get(this);
    const all = [...(messages ?? []), ...added.map(messageOf)];
    return messages === undefined || besidesTask(all) > this.#room ? null : this.#windowOf(all, size);
  }

  /**
   * The model has said that the window that it was given last is longer than it reads: what it has besides the task is half as long
   * from now on. False if it cannot be shorter: there is next to nothing, or the newest step alone is more than its room. Later
   * windows have the room of before then, since what was too long is not what was left out.
   */
  shorten(): boolean {
    const half = Math.floor(this.#given / 2);
    const isShorter = half < this.#room && half >= LEAST_WINDOW_BYTES;
    this.#roomBefore ??= this.#room;
    this.#shortened.set(this.#of.agentId, { model: this.#model, bytes: isShorter ? half : this.#roomBefore });
    if (!isShorter) this.#roomBefore = null;
    this.invalidate();
    return isShorter;
  }

  /**
   * The owner has committed a change: the messages that it added are remembered. If messages of people joined, whose content
   * the owner has not read, all are read again.
   */
  committed({ joins = [], messages = [] }: Pick<OwnerChange, "joins" | "messages">): void {
    this.#changes += 1;
    if (messages.some(({ kind }) => kind === "ASSISTANT")) this.#roomBefore = null;
    if (joins.length > 0) this.invalidate();
    else this.#remember(messages.map(messageOf));
  }

  #remember(added: readonly TranscriptMessage[]): void {
    const messages = this.#remembered.get(this);
    if (messages === undefined) return;
    const all = [...messages, ...added];
    if (besidesTask(all) > this.#room) this.invalidate();
    else this.#remembered.set(this, all);
  }

  /** Forgets the messages, so that the next window is read from the database: nobody asks for one now, or those that are remembered are not all. */
  invalidate(): void {
    this.#changes += 1;
    this.#remembered.delete(this);
  }

  #windowOf(messages: readonly TranscriptMessage[], size: number): Window {
    const window = withinImageBudget(withOmissionNoted(contextWindow(messages, size)));
    const images = window.reduce((sum, { content }) => sum + imageBytes(content), 0);
    this.#given = besidesTask(window);
    return { bytes: bytesOf(window) + images, messages: async () => modelMessages(await this.#read(window)) };
  }

  /** Reads the part that a window needs. The rest of a long conversation stays in the database. */
  async #load(length: number, size: number): Promise<readonly TranscriptMessage[]> {
    const { sql, agentId } = this.#of;
    const earliest = earliestCut(length, size);
    return sql.query(LOAD, [agentId, earliest, length, Math.floor(this.#room * READ_SHARE)]);
  }

  /** Reads the images of messages. Most have none, and are as they are remembered. */
  async #read(messages: readonly TranscriptMessage[]): Promise<readonly ReadMessage[]> {
    if (messages.every(isRead)) return messages;
    const { sql, tenant } = this.#of;
    const read = async (block: StoredBlock): Promise<ContentBlock> =>
      block.type === "image" ? this.#images.read(sql, tenant, block) : block;
    return Promise.all(
      messages.map(async ({ kind, content }) => ({ kind, content: await Promise.all(content.map((block) => read(block))) })),
    );
  }
}

/** A message as its row has it on its way into the transcript. A reminder that its owner adds joins a turn. */
function messageOf({ ordinal, kind, createdBy, content, bytes }: AddedMessages[number]): TranscriptMessage {
  return {
    ordinal: ordinal ?? 0,
    kind,
    isOfPerson: createdBy !== null && kind !== "REMINDER",
    content: storedBlocks(content),
    bytes,
  };
}

/** The bytes of the images of a content in base64. */
function imageBytes(content: readonly StoredBlock[]): number {
  return content.reduce((sum, block) => (block.type === "image" ? sum + Math.ceil(block.source.bytes / 3) * 4 : sum), 0);
}

/** True if a message has no image that must be read. */
function isRead(message: TranscriptMessage): message is TranscriptMessage & ReadMessage {
  return message.content.every(({ type }) => type !== "image");
}

/** The bytes of messages besides the newest person's message: that is what the model is asked to do. */
function besidesTask(messages: readonly TranscriptMessage[]): number {
  return bytesOf(messages) - (messages.findLast(({ isOfPerson }) => isOfPerson)?.bytes ?? 0);
}

function bytesOf(messages: readonly TranscriptMessage[]): number {
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

function earliestCut(length: number, size: number): number {
  const step = Math.max(1, Math.floor(size / 4));
  return length <= size ? 0 : Math.ceil((length - size) / step) * step;
}

/** Says so where messages are missing after the first one, and leaves out results whose calls are among them. */
function withOmissionNoted(messages: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  const [asked, ...rest] = messages;
  if (asked === undefined || rest[0] === undefined || rest[0].ordinal === asked.ordinal + 1) return messages;
  const note = { type: "text", text: "[what was said and done here at first is left out: it was too long]" } as const;
  const first = rest.findIndex(({ kind }) => kind !== "TOOL_RESULTS");
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

/** The messages as a model reads them: neighbours of one role are one message. */
export function modelMessages(messages: readonly ReadMessage[]): ModelMessage[] {
  const merged: { role: "user" | "assistant"; content: ContentBlock[] }[] = [];
  for (const { kind, content } of messages) {
    const role = kind === "ASSISTANT" ? "assistant" : "user";
    const said = kind === "REMINDER" ? content.map(inMarks) : content;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...said);
    else merged.push({ role, content: [...said] });
  }
  return merged;
}

/** A reminder as a model reads it. Marks within its text are escaped: it cannot end them, nor begin others. */
function inMarks(block: ContentBlock): ContentBlock {
  if (block.type !== "text") return block;
  const text = block.text.replaceAll(/<(?=\s*\/?\s*system-reminder)/gi, "&lt;");
  return { ...block, text: `<system-reminder>\n${text}\n</system-reminder>` };
}
