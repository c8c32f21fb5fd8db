import { sendMessage as send, type SendMessage } from "../agent/commands/send-message.ts";
import type { Message, Prisma } from "../db/generated/client.ts";
import { formatCursor } from "../events/cursor.ts";
import { contentBlocks } from "../agent/blocks.ts";
import type { KeptBlock, KeptImage, SentImage } from "../agent/images.ts";
import type { ContentBlock, ImageType } from "../agent/models/model.ts";
import type { Context } from "./context.ts";
import type { UserError } from "./errors.ts";
import { rowId } from "./global-id.ts";

/** A message of a payload, by its row id; null where nothing came of the mutation. */
export type MessagePayload = {
  readonly messageId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

export async function sendMessage(context: Context, request: SendMessage): Promise<MessagePayload> {
  const agentId = rowId("Agent", request.agentId) ?? "";
  const result = await send(context.parts, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  const head = await context.snapshot();
  if (!result.ok) return { messageId: null, cursor: formatCursor(head, head.position), userErrors: [result.refusal] };
  return { messageId: result.value.id, cursor: formatCursor(head, result.value.position ?? head.position), userErrors: [] };
}

/** A message by its row id. */
export async function messageByRow(
  { prisma }: Context,
  id: string | null,
  selection: Pick<Prisma.MessageFindUniqueArgs, "include" | "select">,
): Promise<Message | null> {
  return id === null ? null : prisma.message.findUnique({ ...selection, where: { id } });
}

/** A block of a message as it is shown; of an image for which the answer has no room, its size. */
type ShownBlock = ContentBlock | { readonly type: "image"; readonly source: LeftOut };
type LeftOut = { readonly type: "left_out"; readonly media_type: ImageType; readonly bytes: number };

/** The content blocks of a message. What its model thought is left out where the template does not expose it. */
export async function messageContent(
  context: Context,
  { content, tenant, agent }: Pick<Message, "content" | "tenant"> & { readonly agent: { readonly templateId: string } },
): Promise<readonly ShownBlock[]> {
  const isExposed = context.parts.templates.get(agent.templateId)?.exposeThinking === true;
  const blocks = contentBlocks(content).filter((block) => isExposed || block.type !== "thinking");
  return Promise.all(blocks.map((block) => shown(context, tenant, block)));
}

async function shown({ parts, images }: Context, tenant: string, block: KeptBlock | SentImage): Promise<ShownBlock> {
  if (!isKeptImage(block)) return block;
  const { media_type, bytes } = block.source;
  if (bytes > images.left) return { type: "image", source: { type: "left_out", media_type, bytes } };
  images.left -= bytes;
  return parts.images.read(parts.reads, tenant, block);
}

function isKeptImage(block: KeptBlock | SentImage): block is KeptImage {
  return block.type === "image" && block.source.type === "kept";
}

/** The text of a message's text blocks. */
export function messageText(message: Pick<Message, "content">): string {
  return contentBlocks(message.content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
