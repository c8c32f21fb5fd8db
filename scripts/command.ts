import { exit } from "../src/exit.ts";
import { explained } from "../src/operator-error.ts";

/** Runs a command of an operator. A mistake of theirs is told in a line, and the command ends with 1. */
export async function command(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(explained(error) ?? error);
    process.exitCode = 1;
  }
  await exit();
}
