import { JOB, type Job } from "../plan.ts";

/** The things that an MCP server notes of a job. */
export type Noted = "asked" | "ran" | "refused" | "cancelled";

/** How often each thing happened to each job, over all connections. */
export type Counts = Readonly<Record<Noted, Readonly<Record<string, number>>>>;

export class Tally {
  readonly counts: Record<Noted, Record<string, number>> = { asked: {}, ran: {}, refused: {}, cancelled: {} };

  note(what: Noted, job: string): void {
    const counts = this.counts[what];
    counts[job] = (counts[job] ?? 0) + 1;
  }
}

/** A request of JSON-RPC, or the answer to one. Notifications have no id. */
export type Message = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Job;
    readonly taskId?: string;
    readonly requestState?: string;
    readonly inputResponses?: { readonly value?: Elicited };
  };
  readonly result?: Elicited;
  readonly error?: { readonly message: string };
};

/** The answer of a person, in the form of the protocol. */
export type Elicited = { readonly action: string; readonly content?: { readonly value?: string } };

/** The parameters of `elicitation/create`. */
export function question(job: string): object {
  const requestedSchema = { type: "object", required: ["value"], properties: { value: { type: "string" } } };
  return { message: `Which value has ${job}?`, requestedSchema };
}

export function answered(id: string | number, outcome: object): object {
  return { jsonrpc: "2.0", id, ...outcome };
}

export const textOf = (text: string): object => ({ content: [{ type: "text", text }] });

export const NO_METHOD = { error: { code: -32601, message: "there is no such method" } };

export const tool = (name: string): object => ({
  name,
  description: "Works for the trial.",
  inputSchema: JOB,
});

export function jobOf({ params }: Message): Job {
  if (params?.arguments === undefined) throw new Error("a call has no arguments");
  return params.arguments;
}
