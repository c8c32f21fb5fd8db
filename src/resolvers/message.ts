import { sendMessage as send, type SendMessage } from "../agent/commands/send-message.ts";
import type { Message, Prisma } from "../db/generated/client.ts";
import { contentBlocks } from "../agent/conversation/answer.ts";
import type { StoredBlock, StoredImage, SentImage } from "../agent/conversation/images.ts";
import type { ContentBlock, ImageType } from "../agent/models/model.ts";
import type { Context } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage, type PageArguments } from "./page.ts";
import { payloadOf, type Payload } from "./payload.ts";

export async function sendMessage(context: Context, request: SendMessage): Promise<Payload> {
  const agentId = rowId("Agent", request.agentId) ?? "";
  const result = await send(context.services, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  return payloadOf(context, result);
}

/** A message by its row id. */
export async function messageByRow(
  { prisma }: Context,
  id: string | null,
  selection: Pick<Prisma.MessageFindUniqueArgs, "include" | "select">,
): Promise<Message | null> {
  return id === null ? null : prisma.message.findUnique({ ...selection, where: { id } });
}

/**
 * A page of an agent's conversation, and what waits to join it at the end. The place from which it goes on is a condition:
 * with a cursor over columns that may be null, Prisma would read the whole conversation and look for the place there.
 */
export async function messagesOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  { cursor, ...selection }: Prisma.MessageFindManyArgs,
): Promise<Message[]> {
  checkPage(args);
  const sortKey = cursor === undefined ? null : await prisma.message.findUnique({ where: cursor, select: SORT_KEY });
  if (cursor !== undefined && sortKey?.agentId !== agentId) return [];
  const isBackwards = (selection.take ?? 0) < 0;
  return prisma.message.findMany({
    ...selection,
    skip: 0,
    where: { agentId, ...(sortKey === null ? {} : isBackwards ? before(sortKey) : after(sortKey)) },
    orderBy: [{ ordinal: { sort: "asc", nulls: "last" } }, { arrival: "asc" }],
  });
}

const SORT_KEY = { agentId: true, ordinal: true, arrival: true } as const;
type SortKey = Pick<Message, keyof typeof SORT_KEY>;

/** The messages behind the place: those that wait stand behind all others. */
function after({ ordinal, arrival }: SortKey): Prisma.MessageWhereInput {
  if (ordinal !== null) return { OR: [{ ordinal: { gt: ordinal } }, { ordinal: null }] };
  return { ordinal: null, arrival: { gt: arrival ?? 0 } };
}

function before({ ordinal, arrival }: SortKey): Prisma.MessageWhereInput {
  if (ordinal !== null) return { ordinal: { lt: ordinal } };
  return { OR: [{ ordinal: { not: null } }, { arrival: { lt: arrival ?? 0 } }] };
}

/** A block of a message as it is shown; of an image for which the answer has no room, its size. */
type ShownBlock = ContentBlock | { readonly type: "image"; readonly source: LeftOut };
type LeftOut = { readonly type: "left_out"; readonly media_type: ImageType; readonly bytes: number };

/** The content blocks of a message. What its model thought is left out if the template does not expose it. */
export async function messageContent(
  context: Context,
  { content, tenant, agent }: Pick<Message, "content" | "tenant"> & { readonly agent: { readonly templateId: string } },
): Promise<readonly ShownBlock[]> {
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

/** The text of a message's text blocks. */
export function messageText(message: Pick<Message, "content">): string {
  return contentBlocks(message.content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
