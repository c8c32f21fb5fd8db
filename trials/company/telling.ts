import { setTimeout as delay } from "node:timers/promises";
import type { TrialAgent } from "../agents.ts";
import type { Random } from "../hands/random.ts";
import { ask } from "../processes.ts";
import type { Fleet } from "./fleet.ts";
import type { PlannedAgent } from "./plan.ts";

/** An agent that was told to work. Its reminder, if any, is due at a time, in ms since 1970. */
export type Working = PlannedAgent & { readonly agent: TrialAgent; readonly remindedAt: number | null };

const GIVES_UP_MS = 120_000;
/** The time until a reminder whose first time may be over, in ms; longer with each try, since a busy server takes longer to hear of it. */
const SOON_MS = 500;

const SEND =
  "mutation($id: ID!, $text: String!, $key: String!) { sendMessage(input: { agentId: $id, text: $text, idempotencyKey: $key }) { cursor } }";
const SCHEDULE =
  "mutation($id: ID!, $text: String!, $key: String!, $at: DateTime!) { createSchedule(input: { agentId: $id, text: $text, trigger: { at: $at }, idempotencyKey: $key }) { schedule { id } userErrors { code message } } }";

type Scheduled = {
  readonly createSchedule: { readonly userErrors: readonly { readonly code: string; readonly message: string }[] };
};

/** Tells an agent to work, once: immediately, or by a schedule. The server `first` is told, and if it dies any other one. */
export async function tell(
  fleet: Fleet,
  { agent: { id }, text, remindedAt }: Working,
  random: Random,
  first: string,
): Promise<void> {
  const deadline = performance.now() + GIVES_UP_MS;
  for (let [at, tries] = [remindedAt, 0]; ; [at, tries] = [Date.now() + (tries + 1) * SOON_MS, tries + 1]) {
    try {
      const url = tries === 0 ? first : random.of(fleet.urls);
      if (remindedAt === null) await ask(url, SEND, { id, text, key: text });
      else await schedule(url, { id, text, at: new Date(at ?? 0).toISOString() });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** Makes a schedule, once: a key that was used with another time says that there is one. */
async function schedule(url: string, { id, text, at }: { id: string; text: string; at: string }): Promise<void> {
  const { createSchedule } = await ask<Scheduled>(url, SCHEDULE, { id, text, key: text, at });
  for (const { code, message } of createSchedule.userErrors) if (code !== "IDEMPOTENCY_KEY_REUSED") throw new Error(message);
}
