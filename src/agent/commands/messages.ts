import { randomUUIDv7 } from "node:crypto";
import type { MessageShape } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { newWrite } from "../../events/write.ts";
import { isJsonObject, type Json } from "../../lib/json.ts";
import { refused, type Result, accepted } from "../../lib/result.ts";
import { byteLength, storable } from "../../lib/text.ts";
import { actorRef, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import { answerOf, claimKey, keyedRequest, onceByKey, type DeliveryKey, type KeyedRequest } from "../actors/idempotency.ts";
import { storedImage } from "../conversation/images.ts";
import type { AgentServices } from "../loop/scope.ts";
import { IMAGE_LIMITS, imageBytes, imageProblem, type GivenImage } from "../tools/images.ts";
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

type FoundMessage = { readonly agentId: string; readonly state: "WAITS" | "TASK" | "WITHDRAWN" | "JOINED" };

const FIND: Statement<FoundMessage, [messageId: string]> = {
  name: "find_message",
  text: `SELECT m.agent_id AS "agentId", CASE WHEN m.withdrawn_at IS NOT NULL THEN 'WITHDRAWN' WHEN m.ordinal IS NOT NULL THEN 'JOINED'
      WHEN m.kind = 'USER' AND m.created_by_kind = 'SYSTEM' AND m.created_by = a.parent_id THEN 'TASK' ELSE 'WAITS' END AS state
    FROM message m JOIN agent a ON a.id = m.agent_id WHERE m.id = $1`,
};

/** Withdraws a waiting message. One that was withdrawn before stays so, without an event. One that has joined, or is the task of a child, is refused. */
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
  if (!found.ok) return found;
  if (found.value.state === "TASK") {
    const message =
      "the agent above waits for the answer to this task: `interruptAgent`, or `cancelToolCall` of the call that started it";
    return refused({ code: "FORBIDDEN", field: ["messageId"], message });
  }
  if (found.value.state !== "JOINED") return found;
  return refused({
    code: "ALREADY_JOINED",
    field: ["messageId"],
    message: "the message has joined the conversation, and the model may have read it: `interruptAgent` ends its turn",
  });
}

/** The reason against images, with its place; null for none. */
export function imagesProblem(images: readonly GivenImage[]): CommandRefusal | null {
  const most = IMAGE_LIMITS.images;
  if (images.length > most)
    return { code: "TOO_LARGE", field: ["images"], message: `${images.length} images, and ${most} are the most` };
  for (const [index, image] of images.entries()) {
    const problem = imageProblem(image);
    if (problem !== null) return { ...problem, field: ["images", String(index), "data"] };
  }
  const bytes = images.reduce((sum, { data }) => sum + imageBytes(data), 0);
  return bytes <= IMAGE_LIMITS.bytes
    ? null
    : {
        code: "TOO_LARGE",
        field: ["images"],
        message: `the images have ${bytes} bytes together, and ${IMAGE_LIMITS.bytes} is the most`,
      };
}
