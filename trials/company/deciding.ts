import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../hands/random.ts";
import { ask } from "../processes.ts";

/** A question of an MCP server that is open. */
export type OpenQuestion = {
  readonly id: string;
  readonly callId: string;
  readonly inputHash: string;
  readonly input: { readonly job: string; readonly delayMs: number };
};

/** One try to answer a question. `outcome`: ACCEPTED, LOST without an answer, or the code of the refusal. */
export type Decided = { readonly callId: string; readonly value: string; readonly outcome: string };

const DECIDE = "mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { userErrors { code } } }";
const GIVES_UP_MS = 60_000;

type Answer = { readonly decideApproval: { readonly userErrors: readonly { readonly code: string }[] } };

/** People answer questions at servers that die, and note all tries. Some change their mind afterwards. */
export class Deciding {
  readonly tries: Decided[] = [];
  /** The questions that are still being answered. */
  open = 0;
  readonly #random: Random;
  #urls: readonly string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  /** The servers that run now. */
  serve(urls: readonly string[]): void {
    this.#urls = urls;
  }

  async answer(question: OpenQuestion): Promise<void> {
    const { job, delayMs } = question.input;
    this.open += 1;
    try {
      await delay(delayMs);
      await this.#decide(question, `${job} one`);
      if (delayMs % 2 === 0) await this.#decide(question, `${job} two`);
    } finally {
      this.open -= 1;
    }
  }

  /** Sends the same until a server that lives says how it ended. */
  async #decide({ id, callId, inputHash }: OpenQuestion, value: string): Promise<void> {
    const approvalId = Buffer.from(`Approval:${id}`).toString("base64");
    const input = { approvalId, decision: "ALLOW", inputHash, values: { value } };
    const giveUpAt = performance.now() + GIVES_UP_MS;
    for (;;) {
      const outcome = await this.#try(input);
      this.tries.push({ callId, value, outcome });
      if (outcome !== "LOST" || performance.now() > giveUpAt) return;
      await delay(100 + this.#random.number(200));
    }
  }

  async #try(input: object): Promise<string> {
    if (this.#urls.length === 0) return "LOST";
    try {
      const { decideApproval } = await ask<Answer>(this.#random.of(this.#urls), DECIDE, { input });
      return decideApproval.userErrors[0]?.code ?? "ACCEPTED";
    } catch (error) {
      // An answer with errors is one, other than a connection that ends.
      return error instanceof Error && error.message.startsWith("[") ? `ERRORS ${error.message}` : "LOST";
    }
  }
}
