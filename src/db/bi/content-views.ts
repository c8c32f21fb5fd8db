import type { View } from "./view.ts";

/** Private events are left out: who has snoozed which approval. So are those of deleted agents, until they are removed. */
export const EVENTS =
  "(SELECT e.* FROM event e WHERE e.kind <> 'SNOOZE_CHANGED' AND NOT EXISTS (SELECT FROM deleted_agent d WHERE d.agent_id = e.agent_id)) e";

/** Joins the agent of a row. A deleted one has another tenant, until its rows are removed. */
export const ofAgent = (row: string, of = row): string => `JOIN agent a ON a.id = ${of}.agent_id AND a.tenant = ${row}.tenant`;

/** The texts, a grant of their own. JSON is text here: its columns could be neither compared nor grouped. */
export const CONTENT: readonly View[] = [
  {
    schema: "bi_content",
    name: "tool_call",
    meaning: "Inputs and results of tool calls, null where they were erased.",
    tables: `tool_call t ${ofAgent("t")}`,
    of: "t",
    columns: [
      ["call_id", "t.id", "Id of the call."],
      ["requested_input", "t.requested_input::text", "Input given by the model, as JSON."],
      ["input", "t.effective_input::text", "Input that was validated, evaluated and run, as JSON."],
      ["output", "t.output", "Result as the model reads it."],
      ["details", "t.details::text", "Result for programs, as JSON."],
    ],
  },
  {
    schema: "bi_content",
    name: "approval",
    meaning: "Inputs and reasons of approvals.",
    tables: `approval p ${ofAgent("p")}`,
    of: "p",
    columns: [
      ["approval_id", "p.id", "Id of the approval."],
      ["reason", "p.reason", "Reason why approval is needed."],
      ["input", "p.input::text", "Input to approve, as JSON."],
    ],
  },
  {
    schema: "bi_content",
    name: "decision",
    meaning: "Notes and edited inputs of decisions.",
    tables: `decision d JOIN approval p ON p.id = d.approval_id ${ofAgent("d", "p")}`,
    of: "d",
    columns: [
      ["approval_id", "d.approval_id", "Approval that was decided."],
      ["decided_by", "d.actor_id", "Actor that decided."],
      ["note", "d.note", "Note given with the decision."],
      ["input", "d.input::text", "Input that was allowed instead, as JSON."],
    ],
  },
  {
    schema: "bi_content",
    name: "message",
    meaning: "Contents of messages.",
    tables: `message m ${ofAgent("m")}`,
    of: "m",
    columns: [
      ["message_id", "m.id", "Id of the message."],
      ["content", "m.content::text", "Content blocks, as JSON."],
    ],
  },
  {
    schema: "bi_content",
    name: "event",
    meaning: "Payloads of events.",
    tables: EVENTS,
    of: "e",
    columns: [
      ["position", "e.position", "Position in the log of the tenant."],
      ["payload", "e.payload::text", "Payload, as JSON."],
    ],
  },
  {
    schema: "bi_content",
    name: "agent",
    meaning: "Titles of agents.",
    tables: "agent a",
    of: "a",
    columns: [
      ["agent_id", "a.id", "Id of the agent."],
      ["title", "a.title", "Title for people."],
    ],
  },
];
