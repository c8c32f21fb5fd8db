import type { Sql } from "../db/sql.ts";
import type { TimelineEvent } from "./event.ts";
import type { EventLog } from "./log.ts";
import { readPastPage, type PastPage } from "./log-page.ts";
import { inScope, type Scope } from "./scope.ts";

/** A read that finds little of its scope goes on so often, for at most this many pages. */
const PAGES = 20;

/** The part of the log to read backwards: after one place and up to another, of which the newest `most` events. */
export type PastRequest = { readonly scope: Scope; readonly after: number; readonly upTo: number; readonly most: number };

/**
 * The newest events of the scope, in their order: at most so many, and fewer if they lie far apart. Everything of the scope
 * after `start` is among them; older ones are read up to `start`.
 */
export async function readPast(log: EventLog, sql: Sql, { scope, after, upTo, most }: PastRequest): Promise<PastPage> {
  await log.begin(scope.tenant);
  let page = await readPastPage(sql, scope, after, upTo);
  let events: readonly TimelineEvent[] = page.events.filter((event) => inScope(scope, event));
  // What retention has removed is not looked for.
  const lowest = Math.max(after, page.head.floor);
  for (let pages = 1; events.length < most && page.start > lowest && pages < PAGES; pages += 1) {
    page = await readPastPage(sql, scope, after, page.start);
    events = [...page.events.filter((event) => inScope(scope, event)), ...events];
  }
  const newest = events.slice(-most);
  const [first] = newest;
  const isCut = newest.length < events.length && first !== undefined;
  return { head: page.head, events: newest, start: isCut ? first.position - 1 : Math.max(page.start, lowest) };
}
