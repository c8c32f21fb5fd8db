import { createInterface } from "node:readline";
import { runServer } from "../run-server.ts";
import { holdAt, holding, POINTS } from "./points.ts";

/** A server of trial:crash. A line `hold AGENT POINT` makes it stop before or after that point of the agent's turn. */
createInterface({ input: process.stdin }).on("line", (line) => {
  const [, agentId = "", name = ""] = /^hold (\S+) (.+)$/.exec(line) ?? [];
  const point = POINTS.find((candidate) => candidate === name);
  if (point !== undefined) holdAt(agentId, point);
  console.log(`will hold ${agentId}`);
});
await runServer({ sql: holding });
