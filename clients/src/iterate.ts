import { cursorOf, resume, type ResumeOptions } from "./resume.ts";
import type { Request, Result, Transport } from "./transport.ts";

/** The options of an iteration: as those of `resume`. */
export type IterateOptions = ResumeOptions & {
  /** The most results that are kept while nobody asks. By default 64. */
  readonly mostKept?: number;
};

/**
 * A subscription that resumes, as an async iterable of its results. It ends if the server ends it, and throws what
 * `resume` fails with. What comes while nobody asks is kept, in order. If too much is kept, the subscription is ended, and
 * goes on from there when all that was kept is taken: nothing is lost, and memory is bounded.
 */
export async function* iterate<Data>(
  transport: Transport,
  request: Request,
  { mostKept = 64, ...options }: IterateOptions = {},
): AsyncGenerator<Result<Data>, void, undefined> {
  const { sinceVariable = "since" } = options;
  const kept: Said<Data>[] = [];
  let wake = (): void => {};
  let end = (): void => {};
  let isFull = false;
  let from = request;
  const say = (said: Said<Data>): void => {
    kept.push(said);
    wake();
  };
  const begin = (): void => {
    isFull = false;
    end = resume<Data>(
      transport,
      from,
      {
        next: (result) => {
          say({ kind: "result", result });
          const cursor = cursorOf(result.data);
          if (kept.length < mostKept || cursor === null) return;
          from = { ...request, variables: { ...request.variables, [sinceVariable]: cursor } };
          isFull = true;
          end();
        },
        error: (error) => say({ kind: "failed", error }),
        complete: () => say({ kind: "complete" }),
      },
      options,
    );
  };
  begin();
  try {
    for (;;) {
      const said = kept.shift();
      if (said?.kind === "result") yield said.result;
      else if (said?.kind === "failed") throw said.error;
      else if (said?.kind === "complete") return;
      else if (isFull) begin();
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    end();
  }
}

type Said<Data> =
  | { readonly kind: "result"; readonly result: Result<Data> }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "complete" };
