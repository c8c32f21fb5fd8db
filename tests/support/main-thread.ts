import type { CDPSession, Page } from "playwright-core";

/** An event of Chromium's trace; its times are in microseconds. */
type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** The time for which the thread had a processor. */
  readonly tdur?: number;
  readonly args?: { readonly data?: { readonly url?: string } };
};

const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"];

/**
 * The longest task of the page's main thread while `act` runs, in ms of the processor: a machine that is busy with others makes it
 * hardly longer. Only tasks count that run the page's own scripts.
 */
export async function longestTaskMs(page: Page, act: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => void events.push(...(value as unknown as readonly TraceEvent[])));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ["*"] },
  });
  try {
    await act();
  } finally {
    await endOfTrace(session);
  }
  const own = events.filter(({ args }) => args?.data?.url?.includes("/console/assets/") === true);
  if (own.length === 0) throw new Error("the trace has no script of the page");
  const tasks = events.filter(({ name }) => name === "RunTask");
  const hasOwn = (task: TraceEvent): boolean =>
    own.some(({ pid, tid, ts }) => pid === task.pid && tid === task.tid && ts >= task.ts && ts <= task.ts + (task.dur ?? 0));
  const longest = tasks.toSorted((one, other) => (other.tdur ?? 0) - (one.tdur ?? 0)).find(hasOwn);
  return (longest?.tdur ?? 0) / 1_000;
}

async function endOfTrace(session: CDPSession): Promise<void> {
  const ended = new Promise<void>((resolve) => session.once("Tracing.tracingComplete", () => resolve()));
  await session.send("Tracing.end");
  await ended;
  await session.detach();
}
