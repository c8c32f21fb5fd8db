import { sendMessage as send, type SendMessage } from "../agent/commands/send-message.ts";
import { withdrawMessage as withdraw } from "../agent/commands/withdraw-message.ts";
import { contentBlocks } from "../agent/conversation/answer.ts";
import type { StoredBlock, StoredImage, SentImage } from "../agent/conversation/images.ts";
import type { ContentBlock, ImageType } from "../agent/models/model.ts";
import type { Message, Prisma } from "../db/generated/client.ts";
import { rowId } from "../lib/global-id.ts";
import { connection, type Connection, type PageArguments } from "./connection.ts";
import type { Context } from "./context.ts";
import type { Order } from "./keyset.ts";
import { payloadOf, type Payload } from "./payload.ts";

type MessageSelection = Pick<Prisma.MessageFindUniqueArgs, "include" | "select">;

export async function sendMessage(context: Context, request: SendMessage): Promise<Payload> {
  const agentId = rowId("Agent", request.agentId) ?? "";
  const result = await send(context.services, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  return payloadOf(context, result);
}

export async function withdrawMessage(context: Context, messageId: string): Promise<Payload> {
  const id = rowId("Message", messageId) ?? "";
  return payloadOf(context, await withdraw(context.services, context.actor, id));
}

/** A message by its row id. */
export async function messageByRow({ prisma }: Context, id: string | null, selection: MessageSelection): Promise<Message | null> {
  return id === null ? null : prisma.message.findUnique({ ...selection, where: { id } });
}

/** In the order of the conversation; what waits to join it stands at the end, in the order in which it came. */
const IN_ORDER: Order<Message> = {
  name: "messages",
  columns: [
    { name: "ordinal", direction: "asc", holds: "number", nulls: "last" },
    { name: "arrival", direction: "asc", holds: "number", nulls: "last" },
  ],
};

/** A page of an agent's conversation, without what was withdrawn. The agent was read before, by who may see it. */
export async function messagesOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  selection: MessageSelection,
): Promise<Connection<Message>> {
  return connection<Message, Prisma.MessageWhereInput, Prisma.MessageOrderByWithRelationInput>(args, {
    order: IN_ORDER,
    where: { agentId, withdrawnAt: null },
    read: async (query) => prisma.message.findMany({ ...selection, ...query }),
    count: async (query) => prisma.message.count(query),
  });
}

/** A block of a message as it is shown; of an image for which the answer has no room, its size. */
type ShownBlock = ContentBlock | { readonly type: "image"; readonly source: LeftOut };
type LeftOut = { readonly type: "left_out"; readonly media_type: ImageType; readonly bytes: number };

/** The content blocks of a message; null where they were erased. What its model thought is left out if the template does not expose it. */
export async function messageContent(
  context: Context,
  { content, tenant, agent }: Pick<Message, "content" | "tenant"> & { readonly agent: { readonly templateId: string } },
): Promise<readonly ShownBlock[] | null> {
  if (content === null) return null;
  const isExposed = context.services.templates.get(agent.templateId)?.exposeThinking === true;
  const blocks = contentBlocks(content).filter((block) => isExposed || block.type !== "thinking");
  return Promise.all(blocks.map((block) => shown(context, tenant, block)));
}

async function shown({ services, images }: Context, tenant: string, block: StoredBlock | SentImage): Promise<ShownBlock> {
  if (!isStoredImage(block)) return block;
  const { media_type, bytes } = block.source;
  if (bytes > images.left) return { type: "image", source: { type: "left_out", media_type, bytes } };
  images.left -= bytes;
  return services.images.read(services.reads, tenant, block);
}

function isStoredImage(block: StoredBlock | SentImage): block is StoredImage {
  return block.type === "image" && block.source.type === "kept";
}

/** The text of a message's text blocks; null where it was erased. */
export function messageText({ content }: Pick<Message, "content">): string | null {
  if (content === null) return null;
  return contentBlocks(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
