import { subscriptionExchange, type Exchange, type Operation } from "@urql/core";
import { optionsFor, resume, type ManyResumeOptions, type StatusContext } from "./resume.ts";
import type { Transport } from "./transport.ts";

export { possibleTypes } from "./possible-types.ts";
export { keys } from "./urql-cache.ts";

/** The options of a resumeExchange: how its subscriptions resume. */
export type ResumeExchangeOptions = ManyResumeOptions<Operation>;

/**
 * The exchange for subscriptions in urql. It takes the place of `subscriptionExchange`, after `fetchExchange`. A stream
 * that the server ends has one more result, with `hasNext: false` and an empty page: urql itself would repeat the last.
 */
export function resumeExchange(transport: Transport, options: ResumeExchangeOptions = {}): Exchange {
  return subscriptionExchange({
    forwardSubscription: ({ query, variables, extensions }, operation) => ({
      subscribe: (sink) => {
        let last: Data | null = null;
        const unsubscribe = resume<Data>(
          transport,
          { query: query ?? "", variables: (variables ?? {}) as Data, extensions },
          {
            next: (result) => {
              last = result.data ?? last;
              // urql keeps the last page beside errors, as if it had come again.
              const data = result.data ?? (last === null ? null : emptied(last));
              sink.next({ ...result, data } as Parameters<typeof sink.next>[0]);
            },
            error: (error) => sink.error(error),
            complete: () => {
              if (last !== null) sink.next({ data: emptied(last), hasNext: false });
              sink.complete();
            },
          },
          optionsFor(options, operation, operation.context as StatusContext),
        );
        return { unsubscribe };
      },
    }),
  });
}

type Data = Record<string, unknown>;

/** The same page without events. */
function emptied(data: Data): Data {
  return mapFields<Data>(data, (page) => mapFields(page, (field) => (Array.isArray(field) ? [] : field)));
}

function mapFields<Value>(value: Value, change: (field: unknown) => unknown): Value | Data {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, change(field)]));
}
