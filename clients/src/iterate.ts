import { cursorOf, resume, type ResumeOptions } from "./resume.ts";
import type { Request, Result, Transport } from "./transport.ts";

/** The options of an iteration: as those of `resume`. */
export type IterateOptions = ResumeOptions & {
  /** The most results that are kept while nobody asks: 64 if omitted, and at least one. */
  readonly mostKept?: number;
};

/**
 * A subscription that resumes, as an async iterable of its results. It ends if the server ends it, and throws what
 * `resume` fails with; `return()` ends it at once, also while a result is waited for. What comes while nobody asks is kept,
 * in order. If too much is kept, the subscription is ended, and goes on from there when all that was kept is taken: nothing
 * is lost, and memory is bounded.
 */
export function iterate<Data>(
  transport: Transport,
  request: Request,
  options: IterateOptions = {},
): AsyncGenerator<Result<Data>, void, undefined> {
  const leaving = new AbortController();
  const results = resultsOf<Data>(transport, request, options, leaving.signal);
  return {
    next: () => results.next(),
    return: (value) => {
      leaving.abort();
      return results.return(value);
    },
    throw: (error) => {
      leaving.abort();
      return results.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

async function* resultsOf<Data>(
  transport: Transport,
  request: Request,
  { mostKept = 64, ...options }: IterateOptions,
  leaving: AbortSignal,
): AsyncGenerator<Result<Data>, void, undefined> {
  const { sinceVariable = "since" } = options;
  const kept: Said<Data>[] = [];
  let wake: (() => void) | null = null;
  let end = (): void => {};
  let isFull = false;
  let from = request;
  // Of the newest result that is kept or taken; null if it has none.
  let cursor: string | null = null;
  const say = (said: Said<Data>): void => {
    kept.push(said);
    wake?.();
  };
  const begin = (): void => {
    isFull = false;
    end = resume<Data>(
      transport,
      from,
      {
        next: (result) => {
          const next = cursorOf(result.data);
          // A page that does not fit is asked for again: the kept ones may be the last, and then the server says so. A refusal is the end.
          if (kept.length >= Math.max(1, mostKept) && cursor !== null && next !== null) {
            from = { ...request, variables: { ...request.variables, [sinceVariable]: cursor } };
            isFull = true;
            return end();
          }
          cursor = next;
          say({ kind: "result", result });
        },
        error: (error) => say({ kind: "failed", error }),
        complete: () => say({ kind: "complete" }),
      },
      options,
    );
  };
  const leave = (): void => wake?.();
  leaving.addEventListener("abort", leave);
  begin();
  try {
    while (!leaving.aborted) {
      const said = kept.shift();
      if (said?.kind === "result") yield said.result;
      else if (said?.kind === "failed") throw said.error;
      else if (said?.kind === "complete") return;
      else if (isFull) {
        // The transport has let go of the attempt before, and of the socket that nobody needed.
        await new Promise((resolve) => setTimeout(resolve));
        begin();
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = null;
      }
    }
  } finally {
    end();
  }
}

type Said<Data> =
  | { readonly kind: "result"; readonly result: Result<Data> }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "complete" };
