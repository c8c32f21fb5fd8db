import { randomUUIDv7 } from "node:crypto";
import type { AgentEventBody } from "../../events/event.ts";
import { newWrite } from "../../events/write.ts";
import { refused, type Result } from "../../lib/result.ts";
import { byteLength, storable } from "../../lib/text.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import { storedImage } from "../conversation/images.ts";
import type { AgentServices } from "../loop/services.ts";
import { ARCHIVED, findAgent, findSteered, type FoundAgent } from "./find-agent.ts";
import { imagesProblem, type GivenImage } from "./images.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";

/** `agentId` is the row's id. */
export type SendMessage = {
  readonly agentId: string;
  readonly text: string;
  readonly images: readonly GivenImage[];
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
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, request.agentId, "sending to");
  if (!found.ok) return found;
  const { agentId, images } = request;
  const text = storable(request.text);
  const problem = textProblem(text, images.length) ?? imagesProblem(images);
  if (problem !== null) return refused(problem);
  const body = images.length === 0 ? { agentId, text } : { agentId, text, images };
  const keyed = { actor, operation: "sendMessage", key: request.idempotencyKey, body };
  return onceByKey(services.sql, keyed, () => tryToSend(services, found.value, { text, images }, keyed));
}

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
  { text, images }: Pick<SendMessage, "text" | "images">,
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
