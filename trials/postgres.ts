import { start } from "./processes.ts";

/** A PostgreSQL of the trial's own, that can be stopped as by a power cut, and started again on the same port. */
export type TrialPostgres = { readonly url: string; halt(): Promise<void>; start(): Promise<void> };

/** Starts a new PostgreSQL with its usual durability. */
export async function startPostgres(): Promise<TrialPostgres> {
  const postgres = await start("tests/support/postgres-process.ts", /postgresql:\S+/);
  const order = async (word: string, answer: RegExp): Promise<void> => {
    const answered = postgres.says(answer);
    postgres.tell(word);
    await answered;
  };
  return { url: postgres.said, halt: () => order("halt", /^halted$/), start: () => order("start", /^started$/) };
}
