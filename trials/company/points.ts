import type { Interface } from "node:readline";
import type { Sql } from "../../src/db/sql.ts";
import { soonerTasks } from "../../tests/support/sooner-tasks.ts";
import { aroundWrites, goesTo } from "../../tests/support/writes.ts";
import type { FurtherWork } from "./plan.ts";

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
  "while a question of an MCP server is open",
  "while a running call asks a person",
  "during the commit of an answer to a question",
  "between the result of an answered question and the end of its call",
  "while a call waits for the task of an MCP server",
  "during the commit of the result of a task",
] as const;
export type Point = (typeof POINTS)[number];

/** The work that comes to each point. */
export const WORK_OF: Readonly<Record<Point, FurtherWork>> = {
  "before the order leaves": "orders",
  "between the order and WAITING": "orders",
  "between WAITING and the result": "orders",
  "during the result's commit": "orders",
  "between the claim and the end of a wait": "is reminded",
  "between the parent's commit and the child's row": "starts a child",
  "between the child's end and the return": "starts a child",
  "between the return and the parent's next step": "starts a child",
  "before a call leaves for an MCP server": "measures",
  "between the answer of an MCP server and the end of its call": "measures",
  "between the reminder of a schedule and its turn": "is reminded",
  "while a question of an MCP server is open": "fills",
  "while a running call asks a person": "talks",
  "during the commit of an answer to a question": "fills",
  "between the result of an answered question and the end of its call": "fills",
  "while a call waits for the task of an MCP server": "works",
  "during the commit of the result of a task": "works",
};

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

/** The database, with deaths around commits. The times of tasks are a tenth of production's, as leases are. */
export function dying(sql: Sql): Sql {
  const around = aroundWrites(soonerTasks(sql), async ({ isFenced, change, kinds }, write) => {
    if (change === null) return write();
    const isWaiting = isFenced && goesTo("WAITING", change);
    const isOfTask = change.waitSettled?.ref.includes(":") === true;
    const isReturn = change.waitSettled !== undefined && !isOfTask;
    if (isWaiting) passPoint("between the order and WAITING");
    if (change.createAgent !== undefined && change.childAwaited !== undefined)
      passPoint("between the parent's commit and the child's row");
    if (isReturn) passPoint("between the child's end and the return");
    const isResult = !isFenced && goesTo("COMPLETED", change) && change.waitSettled === undefined;
    if (isResult && isDeath("during the result's commit")) return dieAround(write);
    if (isOfTask && isDeath("during the commit of the result of a task")) return dieAround(write);
    if (change.decision !== undefined && isDeath("during the commit of an answer to a question")) return dieAround(write);
    const rows = await write();
    if (change.waits?.some(({ kind }) => kind === "MCP_TASK") === true)
      passPoint("while a call waits for the task of an MCP server");
    else if (isWaiting) passPoint("between WAITING and the result");
    if (isReturn) passPoint("between the return and the parent's next step");
    if (kinds.includes("SCHEDULER_TRIGGERED")) passPoint("between the reminder of a schedule and its turn");
    if (change.approvals?.some(({ kind }) => kind === "TOOL_INPUT") === true)
      passPoint(
        goesTo("APPROVAL_REQUIRED", change) ? "while a question of an MCP server is open" : "while a running call asks a person",
      );
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
