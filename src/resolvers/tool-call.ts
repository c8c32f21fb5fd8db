import { inputPreview } from "../agent/calls/events.ts";
import type { OutputPiece } from "../agent/calls/outputs.ts";
import { cannotComplete, completeToolCall as complete, type CannotComplete } from "../agent/commands/complete-tool-call.ts";
import { cancelToolCall as cancel } from "../agent/commands/turn.ts";
import { storedBlock } from "../agent/conversation/images.ts";
import type { ResultImage } from "../agent/tools/images.ts";
import { CALL_WAITS, TIMED_WAITS } from "../db/commit/change.ts";
import type { Prisma, Shell, ToolCall, Wait } from "../db/generated/client.ts";
import { ROW_ID } from "../lib/global-id.ts";
import { storable } from "../lib/text.ts";
import { literally } from "./agent.ts";
import { connection, type Connection, type PageArguments, type Order } from "./connection.ts";
import { type Context, clientError, payloadOf, type Payload, visibleAgents } from "./context.ts";
import { shownImage, type BlockOf, type CallOfBlock } from "./message.ts";

type ToolCallSelection = Pick<Prisma.ToolCallFindUniqueArgs, "include" | "select">;

export async function cancelToolCall(context: Context, callId: string, note: string | null): Promise<Payload> {
  const result = await cancel(context.services, context.actor, { callId: ROW_ID.test(callId) ? callId : "", note });
  if (result.ok) context.wake(result.value.agentId);
  return payloadOf(context, result);
}

/** The input of `completeToolCall`: null is a result, an absent one is none. */
type CompleteInput = {
  readonly callId: string;
  readonly result?: unknown;
  readonly error?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
};

export async function completeToolCall(context: Context, input: CompleteInput): Promise<Payload> {
  const callId = ROW_ID.test(input.callId) ? input.callId : "";
  const request = { callId, given: input, idempotencyKey: input.idempotencyKey ?? null };
  const result = await complete(context.services, { kind: "actor", actor: context.actor }, request);
  if (result.ok) context.wake(result.value.agentId);
  return payloadOf(context, result);
}

/** The reason why the viewer may not give the result of a call now; null if they may. The caller has checked its visibility. */
export async function viewerCannotComplete(
  { services, actor }: Context,
  callId: string,
  state: ToolCall["state"],
): Promise<CannotComplete | null> {
  return state === "WAITING" ? cannotComplete(services, actor, callId) : "NOT_WAITING";
}

export async function toolCallOfBlock(
  context: Context,
  { agentId, step, providerId }: CallOfBlock,
  selection: ToolCallSelection,
): Promise<ToolCall | null> {
  if (step === null) return null;
  const id = (await context.loaders.callsOfSteps.load({ agentId, step })).get(providerId);
  return id === undefined ? null : toolCallByRow(context, id, selection);
}

/** The wait of a call for its result. */
export const OWN_WAIT = {
  where: { kind: { in: [...CALL_WAITS] }, settledAt: null },
  select: { kind: true, due: true },
  take: 1,
} satisfies Prisma.ToolCall$waitsArgs;

type OwnWait = { readonly waits: readonly Pick<Wait, "kind" | "due">[] };

/** The time at which a call fails if it has no result; null for none. */
export function dueOfCall({ waits: [wait] }: OwnWait): Date | null {
  return wait !== undefined && TIMED_WAITS.some((kind) => kind === wait.kind) ? wait.due : null;
}

/** The origin of the result for which a call waits; null for none. */
export function waitOfCall({ waits: [wait], state }: OwnWait & Pick<ToolCall, "state">): (typeof CALL_WAITS)[number] | null {
  return state === "WAITING" ? (CALL_WAITS.find((kind) => kind === wait?.kind) ?? null) : null;
}

/** The images of a call's result. Rows are written by the loop only, so that their form is known. */
export function imagesOfCall({ tenant, images, erasedAt }: Pick<ToolCall, "tenant" | "images" | "erasedAt">): BlockOf<"image">[] {
  const stored = erasedAt === null ? (images as readonly ResultImage[] | null) : null;
  return (stored ?? []).map((image) => shownImage(tenant, storedBlock(image).source));
}

const IN_ORDER: Order<ToolCall> = {
  name: "toolCallsOfAgent",
  columns: [
    { name: "step", direction: "asc", holds: "integer", nulls: "never" },
    { name: "ordinal", direction: "asc", holds: "integer", nulls: "never" },
  ],
};

/** A page of an agent's calls. The caller has checked its visibility. */
export async function toolCallsOf(
  context: Context,
  agentId: string,
  args: PageArguments,
  selection: ToolCallSelection,
): Promise<Connection<ToolCall>> {
  const { prisma } = context;
  return connection<ToolCall, Prisma.ToolCallWhereInput, Prisma.ToolCallOrderByWithRelationInput>(args, {
    order: IN_ORDER,
    where: { agentId },
    read: async (query) => prisma.toolCall.findMany({ ...selection, ...query }),
    count: async (query) => prisma.toolCall.count(query),
  });
}

/** The tools whose results name the files that they wrote. */
const FILE_EDITORS = ["fs_write", "fs_edit", "fs_multi_edit"];

const NEWEST_FIRST: Order<ToolCall> = {
  name: "fileEdits",
  columns: [
    { name: "step", direction: "desc", holds: "integer", nulls: "never" },
    { name: "ordinal", direction: "desc", holds: "integer", nulls: "never" },
  ],
};

/** The calls of an agent that wrote a file, by its name without links. The caller has checked the agent's visibility. */
export async function fileEditsOf(
  { prisma }: Context,
  agentId: string,
  { path, ...args }: PageArguments & { readonly path: string },
  selection: ToolCallSelection,
): Promise<Connection<ToolCall>> {
  const name = storable(path);
  return connection<ToolCall, Prisma.ToolCallWhereInput, Prisma.ToolCallOrderByWithRelationInput>(args, {
    order: NEWEST_FIRST,
    where: {
      agentId,
      state: "COMPLETED",
      name: { in: FILE_EDITORS },
      OR: [
        { details: { path: ["path"], equals: name } },
        // A call may name the file in another way: its diff has the name without links.
        { details: { path: ["diff"], string_contains: `\n+++ b/${literally(name)}\n` } },
        { details: { path: ["files"], array_contains: [{ path: name }] } },
      ],
    },
    read: async (query) => prisma.toolCall.findMany({ ...selection, ...query }),
    count: async (query) => prisma.toolCall.count(query),
  });
}

export async function toolCall(context: Context, callId: string, selection: ToolCallSelection): Promise<ToolCall | null> {
  await context.snapshot();
  const { prisma, actor, tenant } = context;
  return ROW_ID.test(callId)
    ? prisma.toolCall.findUnique({ ...selection, where: { id: callId, AND: { tenant, agent: visibleAgents(actor) } } })
    : null;
}

export async function toolCallByRow({ prisma }: Context, id: string, selection: ToolCallSelection): Promise<ToolCall | null> {
  return prisma.toolCall.findUnique({ ...selection, where: { id } });
}

/** The calls of these rows that are there, in their order. The caller has checked their visibility. */
export async function toolCallsByRows(
  { prisma }: Context,
  ids: readonly string[],
  selection: Pick<Prisma.ToolCallFindManyArgs, "include" | "select">,
): Promise<ToolCall[]> {
  if (ids.length === 0) return [];
  const found = await prisma.toolCall.findMany({ ...selection, where: { id: { in: [...ids] } } });
  const byId = new Map(found.map((call) => [call.id, call]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The call of the same agent whose result a call reused; null for none. */
export async function cachedCall(
  { prisma }: Context,
  { agentId, cachedFrom }: Pick<ToolCall, "agentId" | "cachedFrom">,
  selection: ToolCallSelection,
): Promise<ToolCall | null> {
  return cachedFrom === null ? null : prisma.toolCall.findUnique({ ...selection, where: { id: cachedFrom, agentId } });
}

const MOST_PIECE = 256 * 1024;

/** A piece of a kept output. The caller has checked its visibility. */
export async function outputPiece(
  { services }: Context,
  callId: string,
  offset: number,
  bytes: number,
): Promise<OutputPiece | null> {
  if (offset < 0) throw clientError("BAD_USER_INPUT", `\`offset\` must not be negative, but is ${offset}`);
  if (bytes < 4 || bytes > MOST_PIECE)
    throw clientError("BAD_USER_INPUT", `\`bytes\` must be between 4 and ${MOST_PIECE}, not ${bytes}`);
  return services.outputs.read(callId, offset, bytes);
}

const MOST_PREVIEW = 4_000;

/** The beginning of a call's input. */
export function previewOf(call: Parameters<typeof inputPreview>[0], length: number): string {
  if (length < 1 || length > MOST_PREVIEW)
    throw clientError("BAD_USER_INPUT", `\`length\` must be between 1 and ${MOST_PREVIEW}, not ${length}`);
  return inputPreview(call, length);
}

const MOST_SHELLS = 100;

type ShellSelection = Pick<Prisma.ShellFindManyArgs, "include" | "select">;

/** An agent's background shells, newest first. The caller has checked its visibility. */
export async function shellsOf({ prisma }: Context, agentId: string, selection: ShellSelection): Promise<Shell[]> {
  const orderBy = [{ startedAt: "desc" }, { id: "desc" }] as Prisma.ShellOrderByWithRelationInput[];
  return prisma.shell.findMany({ ...selection, where: { agentId }, orderBy, take: MOST_SHELLS });
}
