import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { maySteer, type Actor } from "../actor.ts";
import type { AgentParts } from "../parts.ts";
import { findAgent } from "./find-agent.ts";
import { NOTE_CHARACTERS, type CommandRefusal } from "./refusal.ts";

/** What interruptAgent is asked for. */
export type InterruptAgent = { readonly agentId: string; readonly note: string | null };

/** Asks for the end of the running turn. An idle agent is left as it is, and its next message works. */
export async function interruptAgent(
  parts: AgentParts,
  actor: Actor,
  { agentId, note }: InterruptAgent,
): Promise<Result<{ id: string }, CommandRefusal>> {
  const found = await findAgent(parts.sql, actor, agentId);
  if (!found.ok) return found;
  if (!maySteer(actor, found.value))
    return refused({
      code: "FORBIDDEN",
      field: ["agentId"],
      message: "interrupting an agent needs the role user and an agent of one's own, or the role admin",
    });
  if (note !== null && note.length > NOTE_CHARACTERS)
    return refused({ code: "TOO_LARGE", field: ["note"], message: `a note has at most ${NOTE_CHARACTERS} characters` });
  const at = parts.clock.now().toISOString();
  await parts.log.commit(
    actor.tenant,
    { agentId: found.value.id, createdBy: found.value.createdBy, fence: null, events: [] },
    { wake: true, interrupt: { at, ...(note === null ? {} : { note: storable(note) }) } },
  );
  return accepted({ id: found.value.id });
}
