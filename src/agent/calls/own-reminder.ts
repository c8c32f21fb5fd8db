import { createHash } from "node:crypto";
import type { Sql } from "../../db/sql.ts";
import type { EventLog } from "../../events/log.ts";
import { newWrite } from "../../events/write.ts";
import { refused } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import type { Clock } from "../../lib/time.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import { answerOf, claimKey, keyedRequest, onceByKey } from "../actors/idempotency.ts";
import type { ToolReminder } from "../tools/tool-context.ts";
import { reminderProblem, reminderSent, PASSIVE_REMINDERS, type Reminder } from "./reminder.ts";

export type OwnReminderServices = { readonly sql: Sql; readonly log: EventLog; readonly clock: Clock };

type RemindingCall = { readonly agentId: string; readonly tenant: string; readonly createdBy: string; readonly callId: string };

/**
 * Sends a reminder of a call to the call's own agent, the same one once a call. It starts no turn. Its sender is the
 * call, of kind SYSTEM, which is no requester of the turn. Rejects if it may not be sent.
 */
export async function remindOwnAgent(
  { sql, log, clock }: OwnReminderServices,
  { agentId, tenant, createdBy, callId }: RemindingCall,
  { text, category = "GENERAL", priority = "MEDIUM" }: ToolReminder,
): Promise<void> {
  const reminder: Reminder = { text: storable(text), category, priority, startsTurn: false };
  const problem = reminderProblem(reminder.text);
  if (problem !== null) throw new Error(problem.message);
  const actor: Actor = { id: callId, kind: "SYSTEM", tenant, roles: [], delegators: [] };
  const digest = createHash("sha256")
    .update(JSON.stringify([category, priority, reminder.text]))
    .digest("hex");
  const request = { actor, operation: "remindAgent", key: null, body: { agentId, ...reminder } };
  const keyed = keyedRequest(request, { operation: "context.remind", key: `${callId}:${digest}` });
  const done = await onceByKey(sql, keyed, async () => {
    const at = clock.now();
    const { id, change, event } = reminderSent({ id: agentId, tenant }, reminder, actorRef(actor), at);
    const outcome = await log.commit(
      tenant,
      { agentId, createdBy, events: [{ at, body: event }] },
      { ...claimKey(keyed, id, at), ...change },
      newWrite(id),
    );
    return answerOf(id, outcome, () =>
      refused({
        code: "QUEUE_FULL",
        field: null,
        message: `the agent is archived, or ${PASSIVE_REMINDERS} reminders wait for it: send again with a later step`,
      } as const),
    );
  });
  if (!done.ok) throw new Error(done.refusal.message);
}
