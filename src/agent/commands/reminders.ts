import { newWrite } from "../../events/write.ts";
import { refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import { answerOf, claimKey, keyedRequest, onceByKey, type DeliveryKey, type KeyedRequest } from "../actors/idempotency.ts";
import { reminderProblem, reminderSent, WAITING_REMINDERS, type Reminder } from "../calls/reminder.ts";
import type { AgentServices } from "../loop/scope.ts";
import { ARCHIVED, findAgent, findSteered, type FoundAgent } from "./find-agent.ts";

/** `agentId` is the row's id. */
export type RemindAgent = Reminder & { readonly agentId: string; readonly idempotencyKey: string | null };

/** Puts a reminder into the agent's queue: it joins at the next step, and starts a turn only if it says so. */
export async function remindAgent(
  services: AgentServices,
  actor: Actor,
  { idempotencyKey: key, agentId, ...given }: RemindAgent,
  delivery: DeliveryKey | null = null,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "reminding");
  if (!found.ok) return found;
  const reminder = { ...given, text: storable(given.text) };
  const problem = reminderProblem(reminder.text);
  if (problem !== null) return refused(problem);
  const keyed = keyedRequest({ actor, operation: "remindAgent", key, body: { agentId, ...reminder } }, delivery);
  return onceByKey(services.sql, keyed, () => tryToRemind(services, found.value, reminder, keyed));
}

async function tryToRemind(
  { sql, log, clock }: AgentServices,
  agent: FoundAgent,
  reminder: Reminder,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  if (agent.isArchived) return refused(ARCHIVED);
  const { actor } = keyed;
  const at = clock.now();
  const { id, change, event } = reminderSent(agent, reminder, actorRef(actor), at);
  const outcome = await log.commit(
    actor.tenant,
    { agentId: agent.id, createdBy: agent.createdBy, events: [{ at, body: event }] },
    { ...claimKey(keyed, id, at), ...change },
    newWrite(id),
  );
  return answerOf(id, outcome, async (): Promise<Result<never, CommandRefusal>> => {
    const now = await findAgent(sql, actor, agent.id);
    if (now.ok && now.value.isArchived) return refused(ARCHIVED);
    return refused({
      code: "QUEUE_FULL",
      field: null,
      message: `too many reminders wait for the agent (${WAITING_REMINDERS} at most, some places only for those that begin a turn): send again when it has taken them`,
    });
  });
}
