import { setTimeout as delay } from "node:timers/promises";
import type { GraphQLError } from "graphql";
import { StorageUnavailable } from "../db/storage-error.ts";

/** The server is not ready, for a reason that anybody may know. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

/** The time that an answer to operators' probes holds, in ms: anybody may ask, and each question takes a connection. */
const READY_MS = 1_000;

/** A database that has not answered by then counts as away, in ms: health checks wait no longer. */
const READY_ANSWER_MS = 1_500;

/**
 * Says why the server is not ready, or null if it is. It is asked again only after READY_MS, and counts as not ready if no answer
 * comes within READY_ANSWER_MS. `mask` shows and logs what is neither an outage nor NotReady.
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

/** Anybody may ask: the database's own words, which may name users and hosts, are for the log. */
function reasonOf(error: unknown, mask: (error: unknown) => GraphQLError): string {
  if (error instanceof NotReady) return error.message;
  return error instanceof StorageUnavailable ? "the database does not answer: see the log of the server" : mask(error).message;
}
