import { LRUCache } from "lru-cache";
import type { OwnerChange } from "../../db/commit/change.ts";
import type { MessageKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ContentBlock, ModelMessage } from "../models/model.ts";
import { READ_COMPACTED, type Compaction } from "./compaction.ts";
import { storedBlocks, type Images, type StoredBlock } from "./images.ts";
import { inMarks } from "./marks.ts";
import {
  besidesTask,
  bytesOf,
  earliestCut,
  imageBytes,
  isRead,
  NOT_COMPACTED,
  weightOfAll,
  WINDOW_BYTES,
  windowOf,
  type Compacted,
  type ReadMessage,
  type TranscriptMessage,
} from "./window.ts";

/** The room for the windows that the owners of a server remember, of all its agents; and what a message takes besides its bytes. */
const REMEMBERED_BYTES = 256 * 1024 * 1024;
const MESSAGE_BYTES = 500;

/** True for a message `m` that gives the agent a task: one of a person, or the reminder with which a turn began. */
const IS_TASK = `(m.created_by IS NOT NULL AND (m.kind <> 'REMINDER'
    OR NOT EXISTS (SELECT FROM message p WHERE p.agent_id = m.agent_id AND p.ordinal = m.ordinal - 1 AND p.turn = m.turn)))`;

const MESSAGE = `m.ordinal, m.kind, ${IS_TASK} AS "isOfPerson", coalesce(m.content, '[]'::json) AS content, CASE WHEN m.content IS NULL THEN 0 ELSE m.bytes END AS bytes, m.content IS NULL AS "isErased"`;

type Load = [agentId: string, earliest: number, length: number, bytes: number, compactedTo: number, wordsFrom: number];

/**
 * The newest person's message before the earliest cut, and what came after it, without compacted messages; of that, the newest `$4`
 * bytes, and at least the last answer with its results, as well as the person's message that they belong to, if they do not begin
 * with one. Before them, the words of people that a compaction keeps.
 * Of a range with both ends the planner knows that it is small, and takes the index even if one agent has most rows.
 */
const LOAD: Statement<TranscriptMessage, Load> = {
  name: "load_transcript",
  text: `WITH range AS (
      SELECT greatest($5 + 1, coalesce((SELECT m.ordinal FROM message m WHERE m.agent_id = $1 AND ${IS_TASK} AND m.ordinal <= $2 ORDER BY m.ordinal DESC LIMIT 1), 0)) AS first
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
    ), begins AS (
      SELECT greatest((SELECT first FROM kept), (SELECT first FROM range)) AS first
    ), asked AS (
      SELECT (SELECT m.ordinal FROM message m WHERE m.agent_id = $1 AND ${IS_TASK} AND m.ordinal < (SELECT first FROM begins) ORDER BY m.ordinal DESC LIMIT 1) AS ordinal
      WHERE NOT coalesce((SELECT s.is_of_person FROM sized s WHERE s.ordinal = (SELECT first FROM begins)), false)
    )
    SELECT ${MESSAGE} FROM message m WHERE m.agent_id = $1 AND m.ordinal >= (SELECT first FROM begins) AND m.ordinal < $3
    UNION ALL SELECT ${MESSAGE} FROM message m WHERE m.agent_id = $1 AND m.ordinal = (SELECT ordinal FROM asked) AND m.ordinal NOT BETWEEN $6 AND $5
    UNION ALL SELECT ${MESSAGE} FROM message m WHERE m.agent_id = $1 AND m.ordinal BETWEEN $6 AND $5 AND ${IS_TASK}
    ORDER BY ordinal`,
};

/** Messages that have joined since others were read. */
const LOAD_REST: Statement<TranscriptMessage, [agentId: string, from: number, length: number]> = {
  name: "load_rest_of_transcript",
  text: `SELECT ${MESSAGE} FROM message m WHERE m.agent_id = $1 AND m.ordinal >= $2 AND m.ordinal < $3 ORDER BY m.ordinal`,
};

/** Messages that an owner adds to a conversation: their rows. */
export type AddedMessages = NonNullable<OwnerChange["messages"]>;

/** The part of a conversation that a model is given. */
export type Window = {
  /** The bytes of it: texts as they are stored, images in base64. */
  readonly bytes: number;
  /** The same with images as they count for tokens. */
  readonly weight: number;
  /** Reads its images, and gives the whole as a model reads it. */
  readonly messages: () => Promise<ModelMessage[]>;
};

/** The length of a conversation now, in messages, and its compactions; null for none. */
export type Conversation = { readonly transcriptLength: number; readonly compaction: Compaction | null };

/** The windows that the owners of this server remember: those used last, within one room. */
export class Transcripts {
  readonly #images: Images;
  readonly #remembered: LRUCache<Transcript, readonly TranscriptMessage[]>;

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
    return new Transcript({ sql, tenant, agentId }, this.#images, this.#remembered);
  }
}

/** The messages of a conversation from which its window is made. */
export type Loaded = { readonly messages: readonly TranscriptMessage[]; readonly compacted: Compacted };

/**
 * The conversation of an agent as its owner reads it. The owner's own messages are not read again, and messages that have joined are read alone. A compaction that was applied since is read with all messages that it leaves.
 */
export class Transcript {
  readonly #of: { readonly sql: Sql; readonly tenant: string; readonly agentId: string };
  readonly #images: Images;
  readonly #remembered: LRUCache<Transcript, readonly TranscriptMessage[]>;
  #compacted: Compacted = NOT_COMPACTED;
  /** The compactions of `#compacted`, as a key. */
  #compactedBy = keyOf(null);
  /** Counts what was committed or forgotten: what was read before it is not remembered. */
  #changes = 0;

  constructor(
    of: { readonly sql: Sql; readonly tenant: string; readonly agentId: string },
    images: Images,
    remembered: LRUCache<Transcript, readonly TranscriptMessage[]>,
  ) {
    this.#of = of;
    this.#images = images;
    this.#remembered = remembered;
  }

  /** The messages of the window, and those that words of people are taken from. */
  async load(conversation: Conversation, size: number | null): Promise<Loaded> {
    const { transcriptLength, compaction } = conversation;
    const by = keyOf(compaction);
    if (by !== this.#compactedBy) this.invalidate();
    const known = this.#remembered.get(this) ?? null;
    const from = known === null ? null : endOf(known);
    if (known !== null && (from ?? 0) >= transcriptLength) return { messages: known, compacted: this.#compacted };
    const before = this.#changes;
    const compacted = by === this.#compactedBy ? this.#compacted : await this.#readCompacted(compaction);
    const messages =
      known === null || from === null
        ? await this.#load(transcriptLength, size, compacted)
        : [...known, ...(await this.#of.sql.query(LOAD_REST, [this.#of.agentId, from, transcriptLength]))];
    if (this.#changes === before) {
      this.#compacted = compacted;
      this.#compactedBy = by;
      this.#keep(messages);
    }
    return { messages, compacted };
  }

  /** The window of about `size` messages that a model is given, of a conversation as it is now. */
  async window(conversation: Conversation, size: number | null): Promise<Window> {
    const { messages, compacted } = await this.load(conversation, size);
    return this.#windowOf(messages, compacted, size);
  }

  /**
   * The same with messages that are not committed yet; null if rows would have to be read for it: it is not remembered, or too long by
   * then.
   */
  windowWith(added: AddedMessages, { compaction }: Pick<Conversation, "compaction">, size: number | null): Window | null {
    const messages = this.#remembered.get(this);
    if (messages === undefined || keyOf(compaction) !== this.#compactedBy || !continues(messages, added)) return null;
    const all = [...messages, ...added.map(messageOf)];
    return besidesTask(all) > WINDOW_BYTES ? null : this.#windowOf(all, this.#compacted, size);
  }

  /**
   * The owner has committed a change: the messages that it added are remembered. Messages of people that joined with them
   * are read when the next window is.
   */
  committed({ joins = [], messages = [] }: Pick<OwnerChange, "joins" | "messages">): void {
    this.#changes += 1;
    const known = this.#remembered.get(this);
    if (known === undefined || joins.length > 0 || !continues(known, messages)) return;
    this.#keep([...known, ...messages.map(messageOf)]);
  }

  #keep(messages: readonly TranscriptMessage[]): void {
    if (besidesTask(messages) > WINDOW_BYTES) this.invalidate();
    else this.#remembered.set(this, messages);
  }

  /** Forgets the messages, so that the next window is read from the database: nobody asks for one now, or those that are remembered are not all. */
  invalidate(): void {
    this.#changes += 1;
    this.#remembered.delete(this);
  }

  #windowOf(messages: readonly TranscriptMessage[], compacted: Compacted, size: number | null): Window {
    const window = windowOf(messages, compacted, size);
    const images = window.reduce((sum, { content }) => sum + imageBytes(content), 0);
    return {
      bytes: bytesOf(window) + images,
      weight: weightOfAll(window),
      messages: async () => modelMessages(await this.#read(window)),
    };
  }

  async #readCompacted(compaction: Compaction | null): Promise<Compacted> {
    if (compaction === null) return NOT_COMPACTED;
    const { head, clearedTo } = compaction;
    if (head === null) return { ...NOT_COMPACTED, clearedTo };
    const [read] = await this.#of.sql.query(READ_COMPACTED, [head.id]);
    if (read === undefined) throw new Error(`the compaction ${head.id} does not exist`);
    return { ...read, to: head.to, clearedTo };
  }

  /** Reads the part that a window needs. The rest of a long conversation stays in the database. */
  async #load(length: number, size: number | null, { to, wordsFrom }: Compacted): Promise<readonly TranscriptMessage[]> {
    const { sql, agentId } = this.#of;
    const earliest = size === null ? -1 : earliestCut(length, size);
    return sql.query(LOAD, [agentId, earliest, length, WINDOW_BYTES, to, wordsFrom]);
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

/** The compactions that make the window, as a key. */
function keyOf(compaction: Compaction | null): string {
  return compaction === null ? "" : `${compaction.head?.id ?? ""} ${compaction.head?.isErased === true} ${compaction.clearedTo}`;
}

function endOf(messages: readonly TranscriptMessage[]): number {
  return (messages.at(-1)?.ordinal ?? -1) + 1;
}

/** True if these messages follow immediately. */
function continues(messages: readonly TranscriptMessage[], added: AddedMessages): boolean {
  const [first] = added;
  return first === undefined || first.ordinal === endOf(messages);
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

/** The messages as a model reads them: neighbours of one role are one message. */
export function modelMessages<Block extends StoredBlock | ContentBlock>(
  messages: readonly { readonly kind: MessageKind; readonly content: readonly Block[] }[],
): { readonly role: ModelMessage["role"]; readonly content: Block[] }[] {
  const merged: { role: ModelMessage["role"]; content: Block[] }[] = [];
  for (const { kind, content } of messages) {
    const role = kind === "ASSISTANT" ? "assistant" : "user";
    const said = kind === "REMINDER" ? content.map(reminded) : content;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...said);
    else merged.push({ role, content: [...said] });
  }
  return merged;
}

/** A reminder as a model reads it. */
function reminded<Block extends StoredBlock | ContentBlock>(block: Block): Block {
  return block.type === "text" ? { ...block, text: inMarks("system-reminder", block.text) } : block;
}
