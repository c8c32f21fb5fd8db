import { setTimeout as delay } from "node:timers/promises";
import type { GraphQLError } from "graphql";
import type { Sql, Statement } from "../db/sql.ts";
import { StorageUnavailable } from "../db/storage-error.ts";

export class NotReady extends Error {
  override readonly name = "NotReady";
}

/** The validity of an answer to probes, in ms: probes are public, and each check takes a connection. */
const READY_MS = 1_000;

/** The time limit of the database's answer, in ms, shorter than that of health checks. */
const READY_ANSWER_MS = 1_500;

/**
 * Why the server is not ready; null if it is. It is checked again only after READY_MS, and counts as not ready if there
 * is no answer within READY_ANSWER_MS. `mask` shows and logs errors other than outages and NotReady.
 */
export function readiness(ask: () => Promise<unknown>, mask: (error: unknown) => GraphQLError): () => Promise<string | null> {
  let last: { readonly at: number; readonly answer: Promise<string | null> } | null = null;
  return () => {
    if (last === null || performance.now() - last.at >= READY_MS) {
      const late = delay(READY_ANSWER_MS, null, { ref: false }).then(() => {
        throw new NotReady(`the database has not answered for ${READY_ANSWER_MS} ms`);
      });
      const answers = [ask(), late];
      for (const promise of answers) promise.catch(() => {});
      const answer = Promise.race(answers).then(
        () => null,
        (error: unknown) => reasonOf(error, mask),
      );
      last = { at: performance.now(), answer };
    }
    return last.answer;
  };
}

/** Probes are public: the database's message, which may name users and hosts, is only logged. */
function reasonOf(error: unknown, mask: (error: unknown) => GraphQLError): string {
  if (error instanceof NotReady) return error.message;
  return error instanceof StorageUnavailable ? "the database does not answer: see the log of the server" : mask(error).message;
}

/** Answers the tenants whose log lost commits. */
const READY: Statement<object, []> = { name: "ready", text: "SELECT tenant FROM tenant_log WHERE lost_at IS NOT NULL LIMIT 1" };

/** Throws NotReady if a log lost commits. */
export async function refuseLost(sql: Sql): Promise<void> {
  if ((await sql.query(READY, [])).length > 0)
    throw new NotReady("a failover lost commits: stop all servers, and run `npm run restored`");
}
