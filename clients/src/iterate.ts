import { resume, type ResumeOptions } from "./resume.ts";
import type { Request, Result, Transport } from "./transport.ts";

/**
 * A subscription that resumes, as an async iterable of its results. It ends where the server ends it, and throws what
 * `resume` fails with. What comes while nobody asks is kept, in order.
 */
export async function* iterate<Data>(
  transport: Transport,
  request: Request,
  options: ResumeOptions = {},
): AsyncGenerator<Result<Data>, void, undefined> {
  const waiting: Result<Data>[] = [];
  let state: { readonly kind: "open" | "complete" } | { readonly kind: "failed"; readonly error: unknown } = { kind: "open" };
  let wake = (): void => {};
  const end = resume<Data>(
    transport,
    request,
    {
      next: (result) => {
        waiting.push(result);
        wake();
      },
      error: (error) => {
        state = { kind: "failed", error };
        wake();
      },
      complete: () => {
        state = { kind: "complete" };
        wake();
      },
    },
    options,
  );
  const now = (): typeof state => state;
  try {
    for (;;) {
      const result = waiting.shift();
      if (result !== undefined) {
        yield result;
        continue;
      }
      const { kind } = now();
      if (kind === "complete") return;
      if (kind === "failed") throw (now() as { readonly error: unknown }).error;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    end();
  }
}
