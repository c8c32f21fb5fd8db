import { sendMessage as send, type SendMessage } from "../agent/commands/send-message.ts";
import type { Message, Prisma } from "../db/generated/client.ts";
import { formatCursor } from "../events/cursor.ts";
import { contentBlocks } from "../agent/blocks.ts";
import type { ContentBlock } from "../agent/models/model.ts";
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

/** The content blocks of a message. What its model thought is left out where the template does not expose it. */
export function messageContent(
  { parts }: Context,
  { content, agent }: Pick<Message, "content"> & { readonly agent: { readonly templateId: string } },
): readonly ContentBlock[] {
  const isExposed = parts.templates.get(agent.templateId)?.exposeThinking === true;
  return contentBlocks(content).filter((block) => isExposed || block.type !== "thinking");
}

/** The text of a message's text blocks. */
export function messageText(message: Pick<Message, "content">): string {
  return contentBlocks(message.content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
