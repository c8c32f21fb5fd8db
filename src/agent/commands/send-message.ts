import { randomUUID } from "node:crypto";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { byteLength, storable } from "../../lib/text.ts";
import { actorRef, maySteer, type Actor } from "../actor.ts";
import { keepImage } from "../images.ts";
import type { AgentParts } from "../parts.ts";
import type { Created } from "./create-agent.ts";
import { findAgent } from "./find-agent.ts";
import { imagesProblem, type GivenImage } from "./image.ts";
import { claimKey, earlierResult } from "./idempotency.ts";
import type { CommandRefusal } from "./refusal.ts";

/** What sendMessage is asked for. `agentId` is the row's id. */
export type SendMessage = {
  readonly agentId: string;
  readonly text: string;
  readonly images: readonly GivenImage[];
  readonly idempotencyKey: string | null;
};

/** The largest text of a message, in bytes of UTF-8. */
export const MESSAGE_BYTES = 1024 * 1024;
/** A longer text is not repeated in its event, but read from its row. */
const EVENT_TEXT_CHARACTERS = 16_000;

/** What may wait for an agent at most. */
const QUEUE = { messages: 100, bytes: 32 * 1024 * 1024 };

/** Puts a message into the agent's queue: it joins at the next step, or starts the next turn. */
export async function sendMessage(
  parts: AgentParts,
  actor: Actor,
  request: SendMessage,
): Promise<Result<Created, CommandRefusal>> {
  const found = await findAgent(parts.sql, actor, request.agentId);
  if (!found.ok) return found;
  if (!maySteer(actor, found.value))
    return refused({
      code: "FORBIDDEN",
      field: ["agentId"],
      message: "sending to an agent needs the role user and an agent of one's own, or the role admin",
    });
  const text = storable(request.text);
  const { images } = request;
  if (text.trim() === "" && images.length === 0)
    return refused({ code: "INVALID", field: ["text"], message: "the text is empty: say something" });
  if (byteLength(text) > MESSAGE_BYTES)
    return refused({
      code: "TOO_LARGE",
      field: ["text"],
      message: `the text has ${byteLength(text)} bytes, and ${MESSAGE_BYTES} is the most: put it into a file of the workspace and name the file`,
    });

  const problem = imagesProblem(images);
  if (problem !== null) return refused(problem);
  const kept = images.map(({ mediaType, data }) => keepImage(mediaType, data));
  const content = [...kept.map(({ block }) => block), ...(text.trim() === "" ? [] : [{ type: "text", text } as const])];
  const bytes = byteLength(JSON.stringify(content));
  const added = kept.reduce((sum, { block }) => sum + block.source.bytes, bytes);

  const keyed = {
    actor,
    operation: "sendMessage",
    key: request.idempotencyKey,
    body: images.length === 0 ? { agentId: request.agentId, text } : { agentId: request.agentId, text, images },
  };
  const earlier = await earlierResult(parts.sql, keyed);
  if (!earlier.ok) return earlier;
  if (earlier.value !== null) return accepted({ id: earlier.value, position: null });
  const id = randomUUID();
  const at = parts.clock.now();
  const outcome = await parts.log.commit(
    actor.tenant,
    {
      agentId: found.value.id,
      createdBy: found.value.createdBy,
      fence: null,
      events: [
        {
          at,
          body: {
            kind: "MESSAGE_RECEIVED",
            messageId: id,
            text: text.length > EVENT_TEXT_CHARACTERS ? null : text,
            images: images.length,
            sentBy: actorRef(actor),
          },
        },
      ],
    },
    {
      ...claimKey(keyed, id, at),
      wake: true,
      queueLimit: { messages: QUEUE.messages, bytes: QUEUE.bytes, added },
      images: kept.map(({ row }) => row),
      received: {
        id,
        tenant: actor.tenant,
        agentId: found.value.id,
        kind: "USER",
        content,
        bytes,
        ordinal: null,
        turn: null,
        step: null,
        createdBy: actor.id,
        createdByKind: actor.kind,
        createdAt: at,
      },
    },
  );
  switch (outcome.outcome) {
    case "COMMITTED":
      return accepted({ id, position: outcome.position });
    case "KEY_USED":
      return sendMessage(parts, actor, request);
    case "CONFLICT":
      return refused({
        code: "QUEUE_FULL",
        field: null,
        message: `${QUEUE.messages} messages, or ${QUEUE.bytes} bytes, wait for the agent: send again when it has taken them`,
      });
    case "FENCED":
      throw new Error(`a message could not be stored: ${outcome.outcome}`);
  }
}
