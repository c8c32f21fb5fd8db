import { sendMessage as send, type SendMessage, withdrawMessage as withdraw } from "../agent/commands/messages.ts";
import { remindAgent as remind, type RemindAgent } from "../agent/commands/reminders.ts";
import { throughBridge } from "../agent/calls/stages/validation.ts";
import { storedBlocks, type StoredBlock, type StoredImage } from "../agent/conversation/images.ts";
import { BRIDGE } from "../agent/tools/tool.ts";
import type { ImageType } from "../agent/models/model.ts";
import type { Agent, Message, Prisma } from "../db/generated/client.ts";
import { rowId } from "../lib/global-id.ts";
import { isJsonObject, type Json } from "../lib/json.ts";
import { REMINDER_CATEGORIES, REMINDER_PRIORITIES, type ReminderCategory, type ReminderPriority } from "../events/snapshots.ts";
import { versionedAgent } from "./template.ts";
import { connection, type Connection, type PageArguments, type Order } from "./connection.ts";
import { type Context, payloadOf, type Payload } from "./context.ts";

type MessageSelection = Pick<Prisma.MessageFindUniqueArgs, "include" | "select">;

/** Adds a message to an agent's conversation, and wakes the agent. */
export async function sendMessage(context: Context, request: SendMessage): Promise<Payload> {
  const agentId = rowId("Agent", request.agentId);
  const result = await send(context.services, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  return payloadOf(context, result);
}

/** Adds a reminder to an agent's conversation, and wakes the agent. */
export async function remindAgent(context: Context, request: RemindAgent): Promise<Payload> {
  const agentId = rowId("Agent", request.agentId);
  const result = await remind(context.services, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  return payloadOf(context, result);
}

/** Takes back a message that still waits to join its conversation. */
export async function withdrawMessage(context: Context, messageId: string): Promise<Payload> {
  const id = rowId("Message", messageId);
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
    { name: "ordinal", direction: "asc", holds: "integer", nulls: "last" },
    { name: "arrival", direction: "asc", holds: "integer", nulls: "last" },
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

/** A call as the blocks of messages name it: the provider's id, in the step that made it; null where that is not known. */
export type CallOfBlock = { readonly agentId: string; readonly step: number | null; readonly providerId: string };

/** A block of a message, as it is shown. */
export type MessageBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | {
      readonly type: "image";
      readonly mediaType: ImageType;
      readonly bytes: number;
      readonly isRemoved: (context: Context) => Promise<boolean>;
      /** The image's address for who asks. */
      readonly url: (context: Context) => string;
    }
  | { readonly type: "tool_use"; readonly call: CallOfBlock; readonly name: string; readonly input: Json }
  | { readonly type: "tool_result"; readonly call: CallOfBlock; readonly output: string; readonly isError: boolean };

/** The block of one type. */
export type BlockOf<Type extends MessageBlock["type"]> = Extract<MessageBlock, { readonly type: Type }>;

/** The columns of a message that its blocks are made of. */
type BlocksRow = Pick<Message, "content" | "tenant" | "agentId" | "step"> & {
  readonly agent: Pick<Agent, "templateId" | "templateVersion">;
};

/** The blocks of a message; null where they were erased. What its model thought is left out if the template does not expose it. */
export async function messageBlocks({ services, prisma }: Context, row: BlocksRow): Promise<MessageBlock[] | null> {
  if (row.content === null) return null;
  const template = await services.heldTemplate(versionedAgent({ ...row.agent, tenant: row.tenant, permission: null }));
  const isExposed = !("missing" in template) && template.exposeThinking;
  const blocks = storedBlocks(row.content).filter(
    (block) => block.type !== "thinking" || (isExposed && block.isRetained !== false),
  );
  const unbridged = await callsOfBridgeName(prisma, row, blocks);
  return blocks.map((block) => shown(row, block, unbridged));
}

/** The provider's ids of the calls whose own name is that of the bridge: their agent does not have it. */
async function callsOfBridgeName(
  prisma: Context["prisma"],
  { agentId, step }: BlocksRow,
  blocks: readonly StoredBlock[],
): Promise<ReadonlySet<string>> {
  const ids = blocks.flatMap((block) => (block.type === "tool_use" && block.name === BRIDGE ? [block.id] : []));
  if (ids.length === 0 || step === null) return new Set();
  const rows = await prisma.toolCall.findMany({
    where: { agentId, step, providerId: { in: ids }, name: BRIDGE },
    select: { providerId: true },
  });
  return new Set(rows.map(({ providerId }) => providerId));
}

function shown({ tenant, agentId, step }: BlocksRow, block: StoredBlock, unbridged: ReadonlySet<string>): MessageBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", text: block.thinking };
    case "image":
      return shownImage(tenant, block.source);
    case "tool_use": {
      // As the call itself names its tool, whichever way the model wrote it.
      const { name, input } = (unbridged.has(block.id) ? null : throughBridge(block)) ?? block;
      return { type: "tool_use", call: { agentId, step, providerId: block.id }, name, input };
    }
    case "tool_result":
      return {
        type: "tool_result",
        call: { agentId, step, providerId: block.tool_use_id },
        output: block.content,
        isError: block.is_error,
      };
  }
}

/** The image of a message or a result, as it is shown. */
export function shownImage(tenant: string, { media_type: mediaType, digest, bytes }: StoredImage["source"]): BlockOf<"image"> {
  return {
    type: "image",
    mediaType,
    bytes,
    isRemoved: async ({ loaders }) => !(await loaders.images.load(digest)),
    url: ({ actor, imageUrl }) => imageUrl(actor, { tenant, digest, mediaType }),
  };
}

/** The text of a message's text blocks; null where it was erased. */
export function messageText({ content }: Pick<Message, "content">): string | null {
  if (content === null) return null;
  return storedBlocks(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}

/** The schema on the row of a person's message; null for none. */
export function askedSchema(shape: unknown): Json {
  return isJsonObject(shape) && shape["kind"] === "ASKED" ? (shape["schema"] ?? null) : null;
}

/** The value on the row of an answer; null for none, and where the message was erased. */
export function answeredValue({ shape, content }: Pick<Message, "shape" | "content">): Json {
  return isJsonObject(shape) && shape["kind"] === "ANSWER" && content !== null ? (shape["value"] ?? null) : null;
}

export type ReminderDetails = {
  readonly category: ReminderCategory;
  readonly priority: ReminderPriority;
  readonly startsTurn: boolean;
};

/** The details of a reminder as its row has them; null for none, or where a newer server wrote unknown values. */
export function reminderDetails(stored: unknown): ReminderDetails | null {
  if (!isJsonObject(stored)) return null;
  const category = REMINDER_CATEGORIES.find((known) => known === stored["category"]);
  const priority = REMINDER_PRIORITIES.find((known) => known === stored["priority"]);
  return category === undefined || priority === undefined
    ? null
    : { category, priority, startsTurn: stored["startsTurn"] === true };
}
