import { Worker } from "node:worker_threads";
import type { Json, JsonObject } from "../../../lib/json.ts";
import type { ShapeProblem } from "../../../db/commit/change.ts";
import { boundsProblem } from "./shape.ts";

/** Without a value, only the schema is checked. */
export type ShapeQuestion = { readonly schema: string; readonly value?: Json };
export type ShapeAnswer = { readonly isUsable: boolean; readonly problems: readonly ShapeProblem[] };

/** The longest check, in ms, with the start of the thread: some patterns would run for ever. */
const CHECK_MS = 5_000;
/** The thread ends after so many ms without a check. */
const IDLE_MS = 30_000;

/**
 * Checks schemas and answers in a thread, one after another: their patterns and sizes come from people and models. Each
 * configured tenant has its own. A check that takes too long ends with the thread, and counts as a problem.
 */
export class ShapeChecks {
  readonly #checkMs: number;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;

  constructor(checkMs: number = CHECK_MS) {
    this.#checkMs = checkMs;
  }

  /** The problems of a given schema; none for one that can be used. */
  async problemsOf(schema: unknown): Promise<readonly ShapeProblem[]> {
    const problem = boundsProblem(schema);
    if (problem !== null) return [problem];
    return (await this.#inTurn({ schema: JSON.stringify(schema) })).problems;
  }

  /** The problems of an answer; none if it fits. */
  async misfits(schema: JsonObject, value: Json): Promise<readonly ShapeProblem[]> {
    return (await this.#inTurn({ schema: JSON.stringify(schema), value })).problems;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#end();
  }

  #inTurn(question: ShapeQuestion): Promise<ShapeAnswer> {
    const answer = this.#last.then(async () => this.#ask(question));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #ask(question: ShapeQuestion): Promise<ShapeAnswer> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const worker = (this.#worker ??= new Worker(new URL("./shape-worker.ts", import.meta.url), { env: {} }));
    const { promise, resolve } = Promise.withResolvers<ShapeAnswer | null>();
    const failed = (): void => resolve(null);
    const timer = setTimeout(failed, this.#checkMs);
    worker.once("message", resolve).once("error", failed).once("exit", failed).postMessage(question);
    try {
      const answer = await promise;
      if (answer !== null) return answer;
      await this.#end();
      const seconds = this.#checkMs / 1_000;
      return { isUsable: false, problems: [{ path: "/", message: `could not be checked by its schema within ${seconds} s` }] };
    } finally {
      clearTimeout(timer);
      worker.off("message", resolve).off("error", failed).off("exit", failed);
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
      this.#worker?.unref();
    }
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}
