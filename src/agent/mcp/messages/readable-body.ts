import { createParser } from "eventsource-parser";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { MESSAGE_BYTES } from "../server.ts";
import { isResponseTo, noAnswer, repairResponse, type RequestId } from "./kept-answer.ts";

/** An answer of a server is too large: its connection is closed. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor() {
    super(`its message is larger than ${MESSAGE_BYTES} bytes`);
  }
}

/** A body of at most MESSAGE_BYTES. */
export function boundedBody(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.length;
      if (bytes > MESSAGE_BYTES) throw new MessageTooLarge();
      controller.enqueue(piece);
    },
  });
}

/** The answer to a request as JSON: its responses have the form of JSON-RPC, and one of them is that of the request. */
export function readableJson(id: RequestId): TransformStream<Uint8Array, Uint8Array> {
  const pieces: Uint8Array[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush: (controller) => controller.enqueue(repairedBody(Buffer.concat(pieces), id)),
  });
}

function repairedBody(body: Buffer, id: RequestId): Uint8Array {
  const repaired = repairedJson(body.toString(), (messages) => {
    const [only] = messages;
    if (messages.length === 1 && only !== undefined && !("method" in only) && (only["id"] ?? null) === null)
      Object.assign(only, { id });
    for (const message of messages) repairResponse(message);
    return messages.some((message) => isResponseTo(message, id)) ? messages : [...messages, noAnswer(id)];
  });
  return repaired === null ? body : Buffer.from(`[${repaired.join(",")}]`);
}

/**
 * A stream of events as the SDK reads it: a message of JSON-RPC on one line of each event, of at most MESSAGE_BYTES. The
 * last event may end with the stream.
 */
export function readableEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({
    // A message above it ends the parser, which throws from then on.
    maxBufferSize: MESSAGE_BYTES,
    onEvent: ({ id, event, data }) => events.push(eventText({ id, event }, repairedData(data))),
    onRetry: (ms) => events.push(`retry: ${ms}\n\n`),
  });
  const read = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    try {
      // It makes an error for each line of no field if these are heard, which costs a flood of them a minute.
      parser.feed(text);
    } catch {
      throw new MessageTooLarge();
    }
    if (events.length > 0) controller.enqueue(Buffer.from(events.join("")));
    events = [];
  };
  return new TransformStream({
    transform: (piece, controller) => read(decoder.decode(piece, { stream: true }), controller),
    flush: (controller) => read(`${decoder.decode()}\n\n`, controller),
  });
}

type EventFields = { readonly id: string | undefined; readonly event: string | undefined };

/** One event a message; the last one has the id, from which a stream continues. */
function eventText({ id, event }: EventFields, messages: readonly string[]): string {
  return messages
    .map((data, index) => {
      const lines = data.split("\n").map((line) => `data: ${line}\n`);
      const isLast = index === messages.length - 1;
      return `${event === undefined ? "" : `event: ${event}\n`}${id === undefined || !isLast ? "" : `id: ${id}\n`}${lines.join("")}\n`;
    })
    .join("");
}

/** The messages in the data of an event, a text each. */
function repairedData(data: string): readonly string[] {
  const repaired = repairedJson(data, (messages) => {
    for (const message of messages) repairResponse(message);
    return messages;
  });
  return repaired ?? [data];
}

/**
 * The messages of a text, one or a list, as `repair` returns them. Null for a text that is no JSON: the SDK has an error for it.
 * Null also for one that is nested without measure, which can be read and not be written.
 */
function repairedJson(text: string, repair: (messages: readonly JsonObject[]) => readonly JsonObject[]): string[] | null {
  try {
    const read = JSON.parse(text) as Json;
    const messages = (Array.isArray(read) ? (read as readonly Json[]) : [read]).filter(isJsonObject);
    return repair(messages).map((message) => JSON.stringify(message));
  } catch {
    return null;
  }
}
