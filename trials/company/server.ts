import { once } from "node:events";
import { createInterface } from "node:readline";
import { createLogger } from "../../src/telemetry/log.ts";
import { runServer } from "../run-server.ts";
import { faulty } from "./faults.ts";
import { dying, obeyOrders } from "./points.ts";

// The trial reads all output: no token is in it.
process.stderr.write = process.stdout.write.bind(process.stdout);
const logger = createLogger({
  level: "debug",
  format: "json",
  server: String(process.pid),
  write: (line) => void process.stdout.write(line),
});

/** A server of trial:company. The first line on its stdin is its environment; further ones say where it dies (points.ts). */
console.log("loaded");
const lines = createInterface({ input: process.stdin });
const [environment] = (await once(lines, "line")) as [string];
Object.assign(process.env, JSON.parse(environment));
obeyOrders(lines);
const isFaulty = process.env["TRIAL_FAULTS"] !== undefined;
await runServer({ logger, sql: (sql) => dying(isFaulty ? faulty(sql) : sql) });
