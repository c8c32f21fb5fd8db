import type { Interface } from "node:readline";
import type { Sql } from "../../src/db/sql.ts";
import { aroundWrites, goesTo } from "../../tests/support/writes.ts";

/** The points at which a server of trial:company dies. */
export const POINTS = [
  "before the order leaves",
  "between the order and WAITING",
  "between WAITING and the result",
  "during the result's commit",
  "between the claim and the end of a wait",
  "between the parent's commit and the child's row",
  "between the child's end and the return",
  "between the return and the parent's next step",
  "before a call leaves for an MCP server",
  "between the answer of an MCP server and the end of its call",
  "between the reminder of a schedule and its turn",
] as const;
export type Point = (typeof POINTS)[number];

/** The place of a death within a commit: before it is sent, once it is sent, or once it is committed. */
export const PLACES = ["before", "during", "after"] as const;
export type Place = (typeof PLACES)[number];

/** The point at which this process dies, when it comes there for the time `left`; null for none. */
let planned: { readonly point: Point; readonly place: Place; left: number } | null = null;

/** Obeys the lines `die LEFT PLACE POINT` and `live`. */
export function obeyOrders(lines: Interface): void {
  lines.on("line", (line) => {
    const [, left = "", placeName = "", name = ""] = /^die (\d+) (\S+) (.+)$/.exec(line) ?? [];
    const point = POINTS.find((candidate) => candidate === name);
    const place = PLACES.find((candidate) => candidate === placeName);
    planned = point === undefined || place === undefined ? null : { point, place, left: Number(left) };
  });
}

/** Counts that this process comes to the point, and says whether it dies there. */
function isDeath(point: Point): boolean {
  if (planned?.point !== point) return false;
  planned.left -= 1;
  return planned.left === 0;
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal is on its way: nothing else runs meanwhile.
  for (;;);
}

/** Dies here if it is planned. */
export function passPoint(point: Point): void {
  if (isDeath(point)) die();
}

/** The database, with deaths around commits. */
export function dying(sql: Sql): Sql {
  const around = aroundWrites(sql, async ({ isFenced, change, kinds }, write) => {
    if (change === null) return write();
    const isWaiting = isFenced && goesTo("WAITING", change);
    const isReturn = change.waitSettled !== undefined;
    if (isWaiting) passPoint("between the order and WAITING");
    if (change.createAgent !== undefined && change.childAwaited !== undefined)
      passPoint("between the parent's commit and the child's row");
    if (isReturn) passPoint("between the child's end and the return");
    if (!isFenced && goesTo("COMPLETED", change) && isDeath("during the result's commit")) return dieAround(write);
    const rows = await write();
    if (isWaiting) passPoint("between WAITING and the result");
    if (isReturn) passPoint("between the return and the parent's next step");
    if (kinds.includes("SCHEDULER_TRIGGERED")) passPoint("between the reminder of a schedule and its turn");
    return rows;
  });
  return {
    ...around,
    query: async (statement, values) => {
      const rows = await around.query(statement, values);
      if (statement.name === "claim_due" && rows.length > 0) passPoint("between the claim and the end of a wait");
      return rows;
    },
  };
}

async function dieAround(write: () => Promise<unknown[]>): Promise<never> {
  const place = planned?.place ?? "before";
  if (place === "before") die();
  const written = write();
  if (place === "after") await written;
  else await new Promise((resolve) => setImmediate(resolve));
  die();
}
