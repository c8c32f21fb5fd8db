import { setTimeout as delay } from "node:timers/promises";
import { readsTenant } from "../agent/actors/actor.ts";
import { blockText as textOfBlock } from "../events/blocks.ts";
import { CHANNELS, type Channel } from "../events/channel.ts";
import { AGAIN_MS } from "../db/retry-while-unavailable.ts";
import { readFor } from "../db/connections/reader-limits.ts";
import {
  CursorExpired,
  EXPIRED,
  formatCursor,
  parseCursor,
  resolveCursor,
  type LogHead,
  type LogIdentity,
} from "../events/cursor.ts";
import { CHANNEL_OF, type BodyOf, type EventBody, type EventKind, type TimelineEvent } from "../events/event.ts";
import type { Member } from "../events/following/broadcast.ts";
import { follow, type Join } from "../events/following/follow.ts";
import { readPast, readPlaceAt, type LogPage, type PastRequest, type StorageOutage } from "../events/log-page.ts";
import type { Scope } from "../events/scope.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import { rowId } from "../lib/global-id.ts";
import { messageByRow, messageText } from "./message.ts";
import { checkPage } from "./connection.ts";
import { countVisible, visibleCreator } from "./visibility.ts";

/** An event of one kind with the log that its cursor names. */
export type EventView<Body extends EventBody = EventBody> = {
  readonly event: TimelineEvent;
  readonly body: Body;
  readonly log: LogIdentity;
};

/** A piece of the timeline as clients get it. */
export type TimelinePage = {
  readonly events: readonly EventView[];
  readonly cursor: string;
  readonly startCursor: string;
  readonly caughtUp: boolean;
  readonly outage: StorageOutage | null;
};

/** The part of the timeline that is asked for. */
export type TimelineArguments = {
  readonly agentIds?: readonly string[] | null | undefined;
  readonly channels?: readonly Channel[] | null | undefined;
  readonly kinds?: readonly EventKind[] | null | undefined;
  readonly since?: string | null | undefined;
  readonly until?: readonly EventKind[] | null | undefined;
  readonly to?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
};

/** The arguments of a subscription to one plane, of one agent or all. */
type PlaneArguments = Omit<TimelineArguments, "agentIds" | "channels"> & { readonly agentId?: string | null | undefined };

/** The same as the timeline takes them. */
export function ofPlane({ agentId, ...args }: PlaneArguments, channel: Channel): TimelineArguments {
  return { ...args, channels: [channel], agentIds: isGiven(agentId) ? [agentId] : null };
}

/** The most events of one polled page, and those of one if nobody says how many. */
export const MAX_EVENTS = 500;

/** The polling twin of the subscriptions: the events after `since` and up to `to`, the first of them or the last. */
export async function timeline(context: Context, args: TimelineArguments): Promise<TimelinePage> {
  checkPage(args, MAX_EVENTS);
  const scope = await scopeOf(context, args);
  const now = await context.services.log.head(scope.tenant);
  const after = positionOf(args.since ?? "0", now);
  const upTo = isGiven(args.to) ? positionOf(args.to, now) : null;
  if (upTo !== null && upTo < after) throw clientError("BAD_USER_INPUT", "`to` lies before `since`: nothing is between them");
  if (typeof args.last === "number")
    return lastOf(context, { scope, after, upTo: upTo ?? now.position, most: args.last }, isGiven(args.since));
  const page = await context.services.log.read(scope, after);
  // The floor may have moved since it was compared with the cursor.
  if (after < page.head.floor) throw clientError(EXPIRED.code, EXPIRED.message);
  return pageOf(firstOf(upTo === null ? page : before(page, upTo), args.first ?? MAX_EVENTS));
}

/** The newest events of the request, read backwards. `isSince` if its beginning was asked for: it must still be kept then. */
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

/** The part of a page up to a place. */
function before(page: LogPage, upTo: number): LogPage {
  if (page.covered <= upTo) return page;
  return { ...page, events: page.events.filter(({ position }) => position <= upTo), covered: upTo };
}

/** The cursor since which everything happened at a time or later. */
export async function cursorAt({ services, tenant }: Context, time: Date): Promise<string> {
  await services.log.begin(tenant);
  const { head, position } = await readPlaceAt(services.reads, tenant, time);
  return formatCursor(head, position);
}

/** Every event after `since`, once, in order; from now on where `since` is omitted. */
export async function subscribe(context: Context, args: TimelineArguments): Promise<AsyncIterable<TimelinePage>> {
  checkUntil(args);
  const scope = await scopeOf(context, args);
  const after = isGiven(args.since)
    ? positionOf(args.since, await context.services.log.head(scope.tenant))
    : (await context.snapshot()).position;
  return mapPages(context, follow(context.tails, { scope, after, until: args.until ?? null }, joinOf(context, scope)));
}

/** Tells the subscriber of later pages together with others who ask for the same; null for one who is answered alone. */
function joinOf({ broadcasts, reader }: Context, scope: Scope): Join | null {
  if (reader === null) return null;
  const member: Member = { ...reader, answer: (page) => reader.answer(pageOf(page)) };
  return (covered, signal) => broadcasts.join(scope, member, covered, signal);
}

/** The control plane: where `since` is omitted, first the open PERMISSION_REQUIRED, then what is new. */
export async function subscribeControl(context: Context, args: TimelineArguments): Promise<AsyncIterable<TimelinePage>> {
  if (isGiven(args.since)) return subscribe(context, args);
  checkUntil(args);
  const scope = await scopeOf(context, args);
  return mapPages(context, openThenLater(context, scope, args.until ?? null));
}

/**
 * The open requests as of one moment, in pages, and everything after that moment. `return()` goes to what is followed,
 * also while it waits.
 */
function openThenLater(context: Context, scope: Scope, until: readonly EventKind[] | null): AsyncGenerator<LogPage, void> {
  const { services, tails } = context;
  let later: AsyncGenerator<LogPage, void> | null = null;
  // In the turns of the tenant's readers, as all that a follower reads for itself.
  const readOpen = (after: number, moment: number | null): Promise<LogPage> =>
    readFor({ tenant: scope.tenant, signal: null }, () => services.log.readOpen(scope, after, moment));
  const pages = (async function* () {
    let page = await readOpen(0, null);
    const moment = page.head.position;
    const [first] = page.events;
    if (until?.includes("PERMISSION_REQUIRED") === true && first !== undefined) {
      yield { ...page, events: [first], covered: first.position };
      return;
    }
    while (page.covered < moment) {
      yield startingAt(page.covered, page);
      page = await readOpen(page.covered, moment);
    }
    later = follow(tails, { scope, after: moment, until }, joinOf(context, scope));
    // The first page of what comes later is at once, and carries the last of what is open.
    const next = await later.next();
    if (next.done === true) return;
    yield startingAt(moment, { ...next.value, events: [...page.events, ...next.value.events] });
    yield* later;
  })();
  const end = pages.return.bind(pages);
  pages.return = async (value) => {
    await later?.return();
    return end(value);
  };
  return pages;
}

/** A field of an event that did not fit into the log, from where it is kept. */
export async function blockText(
  context: Context,
  { event, body }: EventView<BodyOf<"TEXT_CHUNK_END" | "THINK_CHUNK_END">>,
): Promise<string> {
  const kind = body.kind === "TEXT_CHUNK_END" ? "TEXT_CHUNK" : "THINK_CHUNK";
  return body.text ?? textOfBlock(context.services.reads, kind, event, body);
}

/** The text of a message that did not fit into its event, from its row. */
export async function receivedText(context: Context, { body }: EventView<BodyOf<"MESSAGE_RECEIVED">>): Promise<string | null> {
  if (body.text !== null) return body.text;
  const message = await messageByRow(context, body.messageId, { select: { id: true, content: true } });
  return message === null ? null : messageText(message);
}

/** The messages that a turn answers, from their rows if the event could not hold them. */
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

/** The most agents of one stream. */
const MOST_AGENTS = 100;

async function scopeOf(context: Context, args: TimelineArguments): Promise<Scope> {
  const { actor } = context;
  if (!readsTenant(actor) && !actor.roles.includes("user"))
    throw clientError("FORBIDDEN", "reading events needs one of the roles viewer, user, approver and admin");
  const { kinds, channels } = args;
  for (const [name, given] of Object.entries({ agentIds: args.agentIds, kinds, channels }))
    if (given?.length === 0)
      throw clientError(
        "BAD_USER_INPUT",
        `\`${name}\` is empty, and nothing would ever come: name some, or leave it out for all`,
      );
  return {
    tenant: actor.tenant,
    agentIds: args.agentIds ? await visibleIds(context, args.agentIds) : null,
    createdBy: visibleCreator(actor),
    channels: channels ? [...new Set(channels)] : CHANNELS,
    kinds: kinds ? [...new Set(kinds)] : null,
  };
}

/** The row ids of agents, all of which the actor may see. */
async function visibleIds(context: Context, ids: readonly string[]): Promise<readonly string[]> {
  const rows = [...new Set(ids.map((id) => rowId("Agent", id)))];
  if (rows.length > MOST_AGENTS)
    throw clientError(
      "BAD_USER_INPUT",
      `one stream is of at most ${MOST_AGENTS} agents, not ${rows.length}: leave \`agentIds\` out for all`,
    );
  if ((await countVisible(context, rows)) < rows.length)
    throw clientError("NOT_FOUND", "there is no such agent: list yours with `agents`");
  return rows;
}

/** A kind that the stream never delivers would never end it. */
function checkUntil({ until, kinds, channels }: TimelineArguments): void {
  if (until?.length === 0)
    throw clientError("BAD_USER_INPUT", "`until` names no kind: leave it out for a stream that does not end");
  const never = until?.find((kind) => (kinds && !kinds.includes(kind)) || (channels && !channels.includes(CHANNEL_OF[kind])));
  if (never === undefined) return;
  throw clientError(
    "BAD_USER_INPUT",
    `\`until: ${never}\` is not among the kinds and planes that are asked for: it would never end the stream`,
  );
}

function isGiven(argument: string | null | undefined): argument is string {
  return argument !== null && argument !== undefined;
}

function positionOf(text: string, head: LogHead): number {
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

/** A page in the place of one whose rows cannot be read, and the end of that. Its cursor is that before the page. */
export async function waitWhileUnavailable(
  { services }: Context,
  page: object,
): Promise<{ readonly notice: object | null; readonly over: () => Promise<void> }> {
  await delay(AGAIN_MS);
  const { outage } = services.log;
  const over = (): Promise<void> => services.sql.outages.over();
  const [first] = "events" in page ? (page as TimelinePage).events : [];
  if (outage === null || first === undefined) return { notice: null, over };
  const cursor = formatCursor(first.log, first.event.position - 1);
  return { notice: { events: [], cursor, startCursor: cursor, caughtUp: false, outage } satisfies TimelinePage, over };
}

/** True for a page that only tells of an outage: it shows nothing new, and while the database is away nobody can be asked about. */
export function isNotice(page: object): boolean {
  return "outage" in page && page.outage !== null && "events" in page && Array.isArray(page.events) && page.events.length === 0;
}

const pages = new WeakMap<LogPage, TimelinePage>();

/** The page as clients get it: one for one, so that those who are given the same page can share its answer. */
function pageOf(page: LogPage): TimelinePage {
  const known = pages.get(page);
  if (known !== undefined) return known;
  const { head, events, covered, outage } = page;
  const made = {
    events: events.map((event) => ({ event, body: event.body, log: head })),
    cursor: formatCursor(head, covered),
    startCursor: formatCursor(head, (events[0]?.position ?? covered + 1) - 1),
    caughtUp: covered === head.position,
    outage,
  };
  pages.set(page, made);
  return made;
}

/** A page that has open requests before all of its scope: only after `start` is nothing left out. */
function startingAt(start: number, page: LogPage): LogPage {
  pages.set(page, { ...pageOf(page), startCursor: formatCursor(page.head, start) });
  return page;
}

/**
 * The pages for a subscriber, until they are no longer admitted: who they are is asked again as time passes, and what is read
 * beside a page is read after it. `return()` goes straight to the source, since a generator that waits would not hear it.
 */
function mapPages({ admission }: Context, source: AsyncGenerator<LogPage, void>): AsyncIterableIterator<TimelinePage> {
  /** Why nothing more is shown; null while they are admitted. */
  let refusal: { readonly reason: unknown } | null = null;
  const unwatch = admission.watch((reason) => {
    refusal = { reason };
    void source.return();
  });
  const end = async (): Promise<void> => {
    unwatch();
    await source.return();
  };
  return {
    async next() {
      try {
        const result = await source.next();
        if (result.done !== true && !isNotice(result.value)) await admission.refreshed();
        if (refusal !== null) throw refusal.reason;
        if (result.done !== true) return { done: false, value: pageOf(result.value) };
        await end();
        return { done: true, value: undefined };
      } catch (error) {
        await end();
        throw error instanceof CursorExpired ? clientError(EXPIRED.code, EXPIRED.message) : error;
      }
    },
    async return() {
      await end();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
