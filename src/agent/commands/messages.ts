import { randomUUIDv7 } from "node:crypto";
import { imageSize } from "image-size";
import type { MessageShape } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { newWrite } from "../../events/write.ts";
import { isJsonObject, type Json } from "../../lib/json.ts";
import { refused, type Result, accepted } from "../../lib/result.ts";
import { byteLength, storable, messageOf } from "../../lib/text.ts";
import { actorRef, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import { answerOf, claimKey, keyedRequest, onceByKey, type DeliveryKey, type KeyedRequest } from "../actors/idempotency.ts";
import { storedImage } from "../conversation/images.ts";
import type { AgentServices } from "../loop/scope.ts";
import type { ImageType } from "../models/model.ts";
import { pointerParts } from "../tools/shapes/shape.ts";
import { ARCHIVED, findAgent, findSteered, type FoundAgent, findSteeredPart } from "./find-agent.ts";

/** `agentId` is the row's id. */
export type SendMessage = {
  readonly agentId: string;
  readonly text: string;
  readonly images: readonly GivenImage[];
  /** The schema of the answer; null for that of the template. */
  readonly outputSchema: Json;
  readonly idempotencyKey: string | null;
};

/** The largest text of a message, in bytes of UTF-8. */
export const MESSAGE_BYTES = 1024 * 1024;
/** A longer text is not in its event, but read from its row. */
const EVENT_TEXT_CHARACTERS = 16_000;

/** The most messages and bytes that may wait for an agent. */
const QUEUE = { messages: 100, bytes: 32 * 1024 * 1024 };

/** Puts a message into the agent's queue: it joins at the next step, or starts the next turn. */
export async function sendMessage(
  services: AgentServices,
  actor: Actor,
  request: SendMessage,
  delivery: DeliveryKey | null = null,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, request.agentId, "sending to");
  if (!found.ok) return found;
  const { agentId, images, outputSchema } = request;
  const text = storable(request.text);
  const problem = textProblem(text, images.length) ?? imagesProblem(images);
  if (problem !== null) return refused(problem);
  const asked = outputSchema === null ? null : await checkedShape(services, outputSchema);
  if (asked?.ok === false) return asked;
  const shape = asked?.value ?? null;
  const body = {
    agentId,
    text,
    ...(images.length > 0 && { images }),
    ...(shape !== null && { outputSchema: shape.schema }),
  };
  const keyed = keyedRequest({ actor, operation: "sendMessage", key: request.idempotencyKey, body }, delivery);
  return onceByKey(services.sql, keyed, () => tryToSend(services, found.value, { text, images, shape }, keyed));
}

/** The shape of a schema from outside, or the place of its first problem. */
async function checkedShape(
  { shapes }: Pick<AgentServices, "shapes">,
  schema: Json,
): Promise<Result<AskedShape, CommandRefusal>> {
  const [problem, ...more] = await shapes.problemsOf(schema);
  if (problem === undefined && isJsonObject(schema)) return accepted({ kind: "ASKED", schema });
  const { path = "/", message = "must be an object" } = problem ?? {};
  const others = more.length === 0 ? "" : `, and ${more.length} more problems`;
  const place = path === "/" ? "" : ` at ${path}`;
  return refused({
    code: "INVALID",
    field: ["outputSchema", ...pointerParts(path)],
    message: `the schema of the answer${place} ${message}${others}`,
  });
}

type AskedShape = MessageShape & { readonly kind: "ASKED" };

function textProblem(text: string, images: number): CommandRefusal | null {
  if (text.trim() === "" && images === 0)
    return { code: "INVALID", field: ["text"], message: "the text is empty: say something" };
  if (byteLength(text) <= MESSAGE_BYTES) return null;
  return {
    code: "TOO_LARGE",
    field: ["text"],
    message: `the text has ${byteLength(text)} bytes, and ${MESSAGE_BYTES} is the most: put it into a file of the workspace and name the file`,
  };
}

async function tryToSend(
  { sql, log, clock }: AgentServices,
  agent: FoundAgent,
  { text, images, shape }: Pick<SendMessage, "text" | "images"> & { readonly shape: AskedShape | null },
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  if (agent.isArchived) return refused(ARCHIVED);
  const { actor } = keyed;
  const kept = images.map(({ mediaType, data }) => storedImage(mediaType, data));
  const content = [...kept.map(({ block }) => block), ...(text.trim() === "" ? [] : [{ type: "text", text } as const])];
  const bytes = byteLength(JSON.stringify(content));
  const added = kept.reduce((sum, { block }) => sum + block.source.bytes, bytes);
  const id = randomUUIDv7();
  const at = clock.now();
  const received: AgentEventBody = {
    kind: "MESSAGE_RECEIVED",
    messageId: id,
    text: text.length > EVENT_TEXT_CHARACTERS ? null : text,
    images: images.length,
    sentBy: actorRef(actor),
  };
  const outcome = await log.commit(
    actor.tenant,
    { agentId: agent.id, createdBy: agent.createdBy, events: [{ at, body: received }] },
    {
      ...claimKey(keyed, id, at),
      wake: true,
      queueLimit: { messages: QUEUE.messages, bytes: QUEUE.bytes, added },
      images: kept.map(({ row }) => row),
      received: {
        id,
        tenant: actor.tenant,
        agentId: agent.id,
        kind: "USER",
        content,
        bytes,
        ordinal: null,
        turn: null,
        step: null,
        createdBy: actor.id,
        createdByKind: actor.kind,
        createdAt: at,
        erasedAt: null,
        withdrawnAt: null,
        reminder: null,
        ...(shape !== null && { shape }),
      },
    },
    newWrite(id),
  );
  return answerOf(id, outcome, async (): Promise<Result<never, CommandRefusal>> => {
    const now = await findAgent(sql, actor, agent.id);
    if (now.ok && now.value.isArchived) return refused(ARCHIVED);
    return refused({
      code: "QUEUE_FULL",
      field: null,
      message: `${QUEUE.messages} messages, or ${QUEUE.bytes} bytes, wait for the agent: send again when it has taken them`,
    });
  });
}

type FoundMessage = { readonly agentId: string; readonly state: "WAITS" | "WITHDRAWN" | "JOINED" };

const FIND: Statement<FoundMessage, [messageId: string]> = {
  name: "find_message",
  text: `SELECT agent_id AS "agentId", CASE WHEN withdrawn_at IS NOT NULL THEN 'WITHDRAWN' WHEN ordinal IS NULL THEN 'WAITS' ELSE 'JOINED' END AS state FROM message WHERE id = $1`,
};

/** Withdraws a waiting message. One that was withdrawn before stays so, without an event; one that has joined is refused. */
export async function withdrawMessage(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  messageId: string,
): Promise<Result<Outcome, CommandRefusal>> {
  for (;;) {
    const found = await findWithdrawable(sql, actor, messageId);
    if (!found.ok) return found;
    const { agentId, createdBy, state } = found.value;
    if (state === "WITHDRAWN") return accepted({ id: messageId, position: null });
    const at = clock.now();
    const body = { kind: "MESSAGE_WITHDRAWN", messageId, withdrawnBy: actorRef(actor) } as const;
    const outcome = await log.commit(
      actor.tenant,
      { agentId, createdBy, events: [{ at, body }] },
      { wake: true, withdraw: { id: messageId, at: at.toISOString() } },
    );
    // It has joined or was withdrawn meanwhile: its row says which.
    if (outcome.outcome === "COMMITTED") return accepted({ id: messageId, position: outcome.position });
  }
}

async function findWithdrawable(
  sql: Sql,
  actor: Actor,
  messageId: string,
): Promise<Result<FoundMessage & { readonly createdBy: string }, CommandRefusal>> {
  const [row] = await sql.query(FIND, [messageId]);
  const found = await findSteeredPart(sql, actor, {
    row,
    field: "messageId",
    missing: "there is no such message: `agent.messages` lists them",
    doing: "withdrawing a message of",
  });
  if (!found.ok || found.value.state !== "JOINED") return found;
  return refused({
    code: "ALREADY_JOINED",
    field: ["messageId"],
    message: "the message has joined the conversation, and the model may have read it: `interruptAgent` ends its turn",
  });
}

/** `data` in base64. */
type GivenImage = { readonly mediaType: ImageType; readonly data: string };

/** The limits of a message: images, bytes of one image, bytes of all. They are those of the providers. */
const LIMITS = { images: 20, imageBytes: 3.75 * 1024 * 1024, bytes: 5 * 1024 * 1024 };

/** The longest side in pixels that providers accept. */
const SIDE = 8_000;

const TYPES: Readonly<Record<ImageType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Why the images are refused; null if they are not. An image that a provider rejects later would stay in the conversation. */
export function imagesProblem(images: readonly GivenImage[]): CommandRefusal | null {
  if (images.length > LIMITS.images)
    return { code: "TOO_LARGE", field: ["images"], message: `${images.length} images, and ${LIMITS.images} are the most` };
  for (const [index, { mediaType, data }] of images.entries()) {
    const field = ["images", String(index), "data"];
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
      return { code: "INVALID", field, message: "the image is not base64 (RFC 4648, with padding and without line breaks)" };
    if (bytesOf(data) > LIMITS.imageBytes)
      return {
        code: "TOO_LARGE",
        field,
        message: `the image has ${bytesOf(data)} bytes, and ${LIMITS.imageBytes} is the most: scale it down`,
      };
    const problem = headerProblem(mediaType, data);
    if (problem !== null) return { code: "INVALID", field, message: problem };
  }
  const bytes = images.reduce((sum, { data }) => sum + bytesOf(data), 0);
  return bytes <= LIMITS.bytes
    ? null
    : {
        code: "TOO_LARGE",
        field: ["images"],
        message: `the images have ${bytes} bytes together, and ${LIMITS.bytes} is the most`,
      };
}

/** The first bytes of each file type, as Latin-1, with their offset. */
const SIGNATURES: Readonly<Record<ImageType, readonly [number, string]>> = {
  "image/png": [0, "\x89PNG\r\n\x1a\n"],
  "image/jpeg": [0, "\xff\xd8\xff"],
  "image/gif": [0, "GIF8"],
  "image/webp": [8, "WEBP"],
};

/** The first bytes of a file, which contain the size of an image. */
const HEAD_BYTES = 512 * 1024;

function headerProblem(mediaType: ImageType, data: string): string | null {
  try {
    // A copy: a small Buffer shares memory, and the library reads beyond its end.
    const head = Uint8Array.from(Buffer.from(data.slice(0, Math.ceil(HEAD_BYTES / 3) * 4), "base64"));
    const [place, signature] = SIGNATURES[mediaType];
    const found = Buffer.from(head.subarray(place, place + signature.length)).toString("latin1");
    if (found !== signature) return `the image is not ${mediaType}: name the type that it has`;
    const { type, width, height } = imageSize(head);
    if (type !== TYPES[mediaType]) return `the image is ${type ?? "unknown"}, not ${mediaType}: name the type that it has`;
    const isReadable = width > 0 && height > 0 && width <= SIDE && height <= SIDE;
    return isReadable ? null : `the image has ${width} × ${height} pixels, and each side may have 1 to ${SIDE}: scale it down`;
  } catch (error) {
    return `the image cannot be read (${messageOf(error)})`;
  }
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
