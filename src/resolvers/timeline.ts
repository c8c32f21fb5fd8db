import { readsTenant } from "../agent/actors/actor.ts";
import { blockText as textOfBlock } from "../events/blocks.ts";
import {
  CHANNELS,
  type Channel,
  CHANNEL_OF,
  type BodyOf,
  type EventBody,
  type EventKind,
  type TimelineEvent,
} from "../events/event.ts";
import {
  EXPIRED,
  formatCursor,
  parseCursor,
  resolveCursor,
  type LogHead,
  type LogIdentity,
  type Scope,
} from "../events/cursor.ts";
import { PRIVATE_KINDS } from "../events/tenant-event.ts";
import { readPast, readPlaceAt, type LogPage, type PastRequest, type StorageOutage } from "../events/log-page.ts";
import type { Start } from "../events/reading/pages.ts";
import { type Context, clientError, countVisible, visibleCreator } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { messageByRow, messageText } from "./message.ts";
import { checkPage } from "./connection.ts";

/** An event with the log that its cursor names. */
export type EventView<Body extends EventBody = EventBody> = {
  readonly event: TimelineEvent;
  readonly body: Body;
  readonly log: LogIdentity;
};

export type TimelinePage = {
  readonly events: readonly EventView[];
  readonly cursor: string;
  readonly startCursor: string;
  readonly caughtUp: boolean;
  readonly outage: StorageOutage | null;
};

export type TimelineArguments = {
  readonly agentIds?: readonly string[] | null | undefined;
  readonly withDescendants?: boolean | null | undefined;
  readonly channels?: readonly Channel[] | null | undefined;
  readonly kinds?: readonly EventKind[] | null | undefined;
  readonly since?: string | null | undefined;
  readonly until?: readonly EventKind[] | null | undefined;
  readonly to?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
};

type PlaneArguments = Omit<TimelineArguments, "agentIds" | "channels"> & { readonly agentId?: string | null | undefined };

export function ofPlane({ agentId, ...args }: PlaneArguments, channel: Channel): TimelineArguments {
  return { ...args, channels: [channel], agentIds: isGiven(agentId) ? [agentId] : null };
}

/** The most events of one polled page, and the default. */
export const MAX_EVENTS = 500;

/** The polling counterpart of the subscriptions: the first or last events after `since` and up to `to`. */
export async function timeline(context: Context, args: TimelineArguments): Promise<TimelinePage> {
  checkPage(args, MAX_EVENTS);
  const scope = await scopeOf(context, args);
  const now = await context.services.log.head(scope.tenant);
  const after = positionOf(args.since ?? "0", now);
  const upTo = isGiven(args.to) ? positionOf(args.to, now) : null;
  if (upTo !== null && upTo < after) throw clientError("BAD_USER_INPUT", "`to` is before `since`");
  if (typeof args.last === "number")
    return lastOf(context, { scope, after, upTo: upTo ?? now.position, most: args.last }, isGiven(args.since));
  const page = await context.services.log.read(scope, after);
  // The floor may have moved since it was compared with the cursor.
  if (after < page.head.floor) throw clientError(EXPIRED.code, EXPIRED.message);
  return pageOf(firstOf(upTo === null ? page : before(page, upTo), args.first ?? MAX_EVENTS));
}

/** The newest events of the request, read backwards. `isSince`: its start was given, and must still be kept. */
async function lastOf({ services }: Context, request: PastRequest, isSince: boolean): Promise<TimelinePage> {
  const { head, events, start } = await readPast(services.reads, request);
  const { after, upTo } = request;
  // The floor may have moved since it was compared with the cursors.
  if ((isSince ? after : upTo) < head.floor) throw clientError(EXPIRED.code, EXPIRED.message);
  return {
    events: events.map((event) => ({ event, body: event.body, log: head })),
    cursor: formatCursor(head, upTo),
    startCursor: formatCursor(head, start),
    caughtUp: upTo === head.position,
    outage: null,
  };
}

function before(page: LogPage, upTo: number): LogPage {
  if (page.covered <= upTo) return page;
  return { ...page, events: page.events.filter(({ position }) => position <= upTo), covered: upTo };
}

/** The cursor before all events at or after a time. */
export async function cursorAt({ services, tenant }: Context, time: Date): Promise<string> {
  await services.log.begin(tenant);
  const { head, position } = await readPlaceAt(services.reads, tenant, time);
  return formatCursor(head, position);
}

/** The source of a subscription. GraphQL requires an iterable; the server reads it as a feed (server/subscriptions) instead. */
export class TimelineStream implements AsyncIterable<TimelinePage> {
  readonly scope: Scope;
  readonly start: Start;
  readonly until: readonly EventKind[] | null;

  constructor(scope: Scope, start: Start, until: readonly EventKind[] | null | undefined) {
    this.scope = scope;
    this.start = start;
    this.until = until ?? null;
  }

  [Symbol.asyncIterator](): AsyncIterator<TimelinePage> {
    throw new Error("a stream of the timeline is read as a feed");
  }
}

/** Every event after `since`, once, in order; without `since`, new events only. */
export async function subscribe(context: Context, args: TimelineArguments): Promise<TimelineStream> {
  checkUntil(args);
  const scope = await scopeOf(context, args);
  const head = isGiven(args.since) ? await context.services.log.head(scope.tenant) : await context.snapshot();
  const position = isGiven(args.since) ? positionOf(args.since, head) : head.position;
  return new TimelineStream(scope, { kind: "after", position, head: head.position }, args.until);
}

/** The control plane: without `since`, first the open PERMISSION_REQUIRED, then new events. */
export async function subscribeControl(context: Context, args: TimelineArguments): Promise<TimelineStream> {
  if (isGiven(args.since)) return subscribe(context, args);
  checkUntil(args);
  return new TimelineStream(await scopeOf(context, args), { kind: "open_requests" }, args.until);
}

/** A text that exceeded its event, from its deltas; null if it was erased. */
export async function blockText(
  context: Context,
  { event, body }: EventView<BodyOf<"TEXT_CHUNK_END" | "THINK_CHUNK_END">>,
): Promise<string | null> {
  if (body.isErased === true) return null;
  const kind = body.kind === "TEXT_CHUNK_END" ? "TEXT_CHUNK" : "THINK_CHUNK";
  return body.text ?? textOfBlock(context.services.reads, kind, event, body);
}

export async function receivedText(context: Context, { body }: EventView<BodyOf<"MESSAGE_RECEIVED">>): Promise<string | null> {
  if (body.text !== null) return body.text;
  const message = await messageByRow(context, body.messageId, { select: { id: true, content: true } });
  return message === null ? null : messageText(message);
}

export async function answeredMessages(
  { prisma }: Context,
  { event, body }: EventView<BodyOf<"DONE">>,
): Promise<readonly string[]> {
  if (body.messageIds !== null || event.agentId === null) return body.messageIds ?? [];
  const messages = await prisma.message.findMany({
    where: { agentId: event.agentId, turn: body.turn, kind: "USER", createdBy: { not: null } },
    orderBy: { ordinal: "asc" },
    select: { id: true },
  });
  return messages.map((message) => message.id);
}

const MOST_AGENTS = 100;

async function scopeOf(context: Context, args: TimelineArguments): Promise<Scope> {
  const { actor } = context;
  if (!readsTenant(actor) && !actor.roles.includes("user"))
    throw clientError("FORBIDDEN", "reading events needs the role viewer, user, approver or admin");
  const { kinds, channels } = args;
  for (const [name, given] of Object.entries({ agentIds: args.agentIds, kinds, channels }))
    if (given?.length === 0)
      throw clientError("BAD_USER_INPUT", `\`${name}\` is empty and would match no event: name some, or omit it for all`);
  return {
    tenant: actor.tenant,
    agentIds: args.agentIds ? await visibleIds(context, args.agentIds) : null,
    // Of all agents, those below are among them.
    withDescendants: args.withDescendants === true && Boolean(args.agentIds),
    createdBy: visibleCreator(actor),
    channels: channels ? [...new Set(channels)] : CHANNELS,
    kinds: kinds ? [...new Set(kinds)] : null,
    // Readers of nothing private share their pages.
    ...(PRIVATE_KINDS.some((kind) => kinds?.includes(kind)) ? { privateEventsOf: { actorId: actor.id } } : {}),
  };
}

/** The row ids of agents. Throws unless the actor may see all of them. */
async function visibleIds(context: Context, ids: readonly string[]): Promise<readonly string[]> {
  const rows = [...new Set(ids.map((id) => rowId("Agent", id)))];
  if (rows.length > MOST_AGENTS)
    throw clientError(
      "BAD_USER_INPUT",
      `at most ${MOST_AGENTS} agents are allowed in one request, not ${rows.length}: omit \`agentIds\` for all agents`,
    );
  if ((await countVisible(context, rows)) < rows.length)
    throw clientError("NOT_FOUND", "there is no such agent: list yours with `agents`");
  return rows;
}

/** An undelivered kind would never end the stream. */
function checkUntil({ until, kinds, channels }: TimelineArguments): void {
  if (until?.length === 0) throw clientError("BAD_USER_INPUT", "`until` is empty: omit it for a stream that does not end");
  const never = until?.find((kind) => (kinds && !kinds.includes(kind)) || (channels && !channels.includes(CHANNEL_OF[kind])));
  if (never === undefined) return;
  throw clientError(
    "BAD_USER_INPUT",
    `\`until: ${never}\` is not among the requested kinds and planes, so the stream would never end`,
  );
}

function isGiven(argument: string | null | undefined): argument is string {
  return argument !== null && argument !== undefined;
}

/** The position of a cursor. Throws its typed error if it is none of this log. */
export function positionOf(text: string, head: LogHead): number {
  const cursor = parseCursor(text);
  if (!cursor.ok) throw clientError(cursor.refusal.code, cursor.refusal.message);
  const position = resolveCursor(cursor.value, head);
  if (!position.ok) throw clientError(position.refusal.code, position.refusal.message);
  return position.value;
}

function firstOf(page: LogPage, first: number): LogPage {
  if (page.events.length <= first) return page;
  const events = page.events.slice(0, first);
  return { ...page, events, covered: events.at(-1)?.position ?? page.covered };
}

/** The page in the clients' form. Without `start`, it begins before its first event. */
export function pageOf(page: LogPage, start?: number): TimelinePage {
  const { head, events, covered, outage } = page;
  return {
    events: events.map((event) => ({ event, body: event.body, log: head })),
    cursor: formatCursor(head, covered),
    startCursor: formatCursor(head, start ?? (events[0]?.position ?? covered + 1) - 1),
    caughtUp: covered === head.position,
    outage,
  };
}
