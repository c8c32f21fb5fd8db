import { Worker } from "node:worker_threads";
import { withCause } from "../../lib/text.ts";
import type { Answer } from "./copy-reader.ts";
import { StatementRefused } from "./statement.ts";

/** A statement about the copy in a folder. */
export type CopyQuestion = {
  readonly folder: string;
  readonly tenant: string;
  readonly readsContent: boolean;
  readonly statement: string;
};

/** The messages of the thread that asks a copy: `BEGUN` when the copy is open, and one of the others at its end. */
export type CopyNews =
  | { readonly kind: "BEGUN"; readonly otherTenants: readonly string[] | null }
  | { readonly kind: "ANSWERED"; readonly answer: Answer }
  | { readonly kind: "REFUSED"; readonly message: string };

export type CopyAnswer = { readonly answer: Answer; readonly otherTenants: readonly string[] | null };

/** The longest time until a copy is open, in ms. A copy of an older version is migrated first. */
const OPENING_MS = 120_000;

/** The memory of JavaScript in the thread, in MB. An answer is bounded before. */
const HEAP_MB = 1_024;

/**
 * Asks a copy, in a thread. The database of the copy runs in this process, and hears no signal while a statement runs. So the
 * statement ends with its thread: after `limitMs`, or when `signal` aborts.
 */
export async function askCopy(
  question: CopyQuestion,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<CopyAnswer> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./copy-worker.ts", import.meta.url), {
    workerData: question,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  const stopped = (): void => void worker.terminate();
  signal.addEventListener("abort", stopped, { once: true });
  try {
    return await new Promise<CopyAnswer>((resolve, reject) => {
      const endAfter = (ms: number, message: string): void => {
        clearTimeout(timer);
        timer = setTimeout(() => reject(new StatementRefused(message)), ms);
      };
      let otherTenants: readonly string[] | null = null;
      endAfter(OPENING_MS, `the copy of the database was not open after ${OPENING_MS / 1_000} s: run the statement again`);
      worker.on("message", (news: CopyNews) => {
        switch (news.kind) {
          case "BEGUN":
            otherTenants = news.otherTenants;
            return endAfter(
              limitMs,
              `the statement was ended after ${limitMs / 1_000} s: ask for less, such as fewer days, or give it more time with --timeout (60 s at most)`,
            );
          case "ANSWERED":
            return resolve({ answer: news.answer, otherTenants });
          case "REFUSED":
            return reject(new StatementRefused(news.message));
        }
      });
      worker.on("error", (error) =>
        reject(new StatementRefused(`the statement ended its copy of the database (${withCause(error)}): ask for less at once`)),
      );
      worker.on("exit", () =>
        reject(
          signal.aborted
            ? signal.reason
            : new StatementRefused("the statement ended its copy of the database: ask for less at once"),
        ),
      );
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stopped);
    await worker.terminate();
  }
}
