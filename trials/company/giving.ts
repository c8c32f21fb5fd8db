import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../hands/random.ts";
import { ask } from "../processes.ts";
import type { Job } from "./plan.ts";

/** A result or an error, as it is sent. */
export type Given = { readonly result: unknown } | { readonly error: string };

/** One try to give a result. `given` is its JSON. */
export type Attempt = {
  readonly callId: string;
  readonly given: string;
  readonly key: string | null;
  /** ACCEPTED, LOST without an answer, or the code of the refusal. */
  readonly outcome: string;
  readonly message: string;
};

/** A call whose result is to be given: with its token, or by a person. */
export type OpenCall = Job & { readonly callId: string; readonly token: string | null };

type Told = Pick<Attempt, "outcome" | "message">;

/** The outcomes after which the same is sent again. */
const AGAIN: ReadonlySet<string> = new Set(["LOST", "NOT_WAITING"]);
const GIVES_UP_MS = 60_000;
const LOST: Told = { outcome: "LOST", message: "" };

/** True if the server is to be asked again. */
export function isOpen({ outcome }: Attempt): boolean {
  return AGAIN.has(outcome);
}

/** Gives results to servers that die, each in the way of its job, and notes all attempts. */
export class Giving {
  readonly attempts: Attempt[] = [];
  /** The calls whose results are still being given. */
  open = 0;
  #released = Promise.withResolvers<void>();
  readonly #random: Random;
  #urls: readonly string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  /** Lets the results be given that wait to be released. */
  release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  /** The servers that run now. */
  serve(urls: readonly string[]): void {
    this.#urls = urls;
  }

  async give(call: OpenCall): Promise<void> {
    this.open += 1;
    try {
      await this.#giveInItsWay(call);
    } finally {
      this.open -= 1;
    }
  }

  async #giveInItsWay(call: OpenCall): Promise<void> {
    const { job, way, delayMs, dueMs } = call;
    if (way !== "early") await delay(way === "too late" ? dueMs + delayMs : delayMs);
    const [one, two] = [{ result: { value: `${job} one` } }, { result: { value: `${job} two` } }];
    switch (way) {
      case "in time":
      case "early":
      case "too late":
        return this.#give(call, one, delayMs % 2 === 0 ? null : job);
      case "twice":
        await this.#give(call, one, null);
        return this.#give(call, two, null);
      case "again by its key":
        await this.#give(call, one, job);
        await this.#give(call, one, job);
        return this.#give(call, two, job);
      case "concurrently":
        await Promise.all([
          this.#give(call, one, job),
          this.#give(call, two, `${job} two`),
          this.#give({ ...call, token: null }, { error: `${job} three` }, `${job} three`),
        ]);
        return;
      case "a wrong form first":
        await this.#give(call, { result: { value: 1 } }, job);
        return this.#give(call, one, job);
      case "an error":
        return this.#give(call, { error: `${job} one` }, job);
      case "after a cancel":
        await this.#cancel(call.callId);
        await delay(this.#random.number(1_000));
        return this.#give(call, one, null);
      case "when released":
        await this.#released.promise;
        return this.#give(call, one, job);
    }
  }

  /** Sends the same until a server that lives says how it ended. */
  async #give({ callId, token }: OpenCall, given: Given, key: string | null): Promise<void> {
    const giveUpAt = performance.now() + GIVES_UP_MS;
    for (;;) {
      const url = this.#url();
      const told = token === null ? await giveAsPerson(url, callId, given, key) : await giveByToken(url, token, given, key);
      const attempt = { callId, given: JSON.stringify(given), key, ...told };
      this.attempts.push(attempt);
      if (!isOpen(attempt) || performance.now() > giveUpAt) return;
      await delay(100 + this.#random.number(200));
    }
  }

  async #cancel(callId: string): Promise<void> {
    const giveUpAt = performance.now() + GIVES_UP_MS;
    const text = "mutation($id: ID!) { cancelToolCall(input: { callId: $id }) { userErrors { code } } }";
    while (performance.now() < giveUpAt) {
      const told = await ask(this.#url(), text, { id: callId }).catch(() => null);
      if (told !== null) return;
      await delay(200);
    }
  }

  #url(): string {
    return this.#urls.length === 0 ? "http://127.0.0.1:1/graphql" : this.#random.of(this.#urls);
  }
}

async function giveByToken(url: string, token: string, given: Given, key: string | null): Promise<Told> {
  try {
    const response = await fetch(new URL("/tool-calls/result", url), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...given, ...(key === null ? {} : { idempotencyKey: key }) }),
      signal: AbortSignal.timeout(15_000),
    });
    const { error } = (await response.json()) as { readonly error?: { readonly code: string; readonly message: string } };
    return error === undefined ? { outcome: "ACCEPTED", message: "" } : { outcome: error.code, message: error.message };
  } catch {
    return LOST;
  }
}

type Completed = {
  readonly completeToolCall: { readonly userErrors: readonly { readonly code: string; readonly message: string }[] };
};

async function giveAsPerson(url: string, callId: string, given: Given, key: string | null): Promise<Told> {
  const text = "mutation($input: CompleteToolCallInput!) { completeToolCall(input: $input) { userErrors { code message } } }";
  try {
    const { completeToolCall } = await ask<Completed>(url, text, { input: { callId, ...given, idempotencyKey: key } });
    const [problem] = completeToolCall.userErrors;
    return problem === undefined ? { outcome: "ACCEPTED", message: "" } : { outcome: problem.code, message: problem.message };
  } catch (error) {
    // An answer with errors is one, other than a connection that ends.
    return error instanceof Error && error.message.startsWith("[") ? { outcome: "ERRORS", message: error.message } : LOST;
  }
}
