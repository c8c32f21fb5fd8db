import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Sql, Statement } from "../../src/db/sql.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { runServer } from "../run-server.ts";
import { dying, obeyOrders } from "./points.ts";

/** The fault of trial:company: a result is committed whatever the state of its call. */
function unconditional(sql: Sql): Sql {
  const stateOf = { name: "state_of_call", text: "SELECT state::text FROM tool_call WHERE id = $1" };
  return {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> => {
      const change = statement.name === "commit_change" ? String(values[CHANGE]) : "";
      if (!change.includes(WAITING)) return sql.query(statement, values);
      try {
        return await sql.query(statement, values);
      } catch (error) {
        const { transitions } = JSON.parse(change) as { readonly transitions: readonly { readonly id: string }[] };
        const [found] = await sql.query<{ state: string }>(stateOf, [transitions[0]?.id]);
        if (found === undefined) throw error;
        return sql.query(statement, values.with(CHANGE, change.replace(WAITING, `"from":"${found.state}"`)));
      }
    },
  };
}

/** The parameter of `commit_change` with the change, and the part of the text of a change that compares. */
const CHANGE = 6;
const WAITING = '"from":"WAITING"';

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
await runServer({ logger, sql: process.env["TRIAL_FAULT"] === "unconditional" ? unconditional : dying });
