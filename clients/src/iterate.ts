import { resume, type ResumeOptions } from "./resume.ts";
import type { Request, Result, Transport } from "./transport.ts";

/**
 * A subscription that resumes, as an async iterable of its results. It ends if the server ends it, and throws what
 * `resume` fails with. What comes while nobody asks is kept, in order.
 */
export async function* iterate<Data>(
  transport: Transport,
  request: Request,
  options: ResumeOptions = {},
): AsyncGenerator<Result<Data>, void, undefined> {
  const waiting: Said<Data>[] = [];
  let wake = (): void => {};
  const say = (said: Said<Data>): void => {
    waiting.push(said);
    wake();
  };
  const end = resume<Data>(
    transport,
    request,
    {
      next: (result) => say({ kind: "result", result }),
      error: (error) => say({ kind: "failed", error }),
      complete: () => say({ kind: "complete" }),
    },
    options,
  );
  try {
    for (;;) {
      const said = waiting.shift();
      if (said === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (said.kind === "result") yield said.result;
      else if (said.kind === "failed") throw said.error;
      else return;
    }
  } finally {
    end();
  }
}

type Said<Data> =
  | { readonly kind: "result"; readonly result: Result<Data> }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "complete" };
