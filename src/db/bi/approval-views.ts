import { ofAgent } from "./content-views.ts";
import { relay, type View } from "./view.ts";

/**
 * Tables of present agents, and of deleted ones, whose approvals and decisions have rows of their own without texts. The
 * earlier rows of a deleted agent stay for a while. Their agent is then of no tenant. Exports read texts from here.
 */
const PRESENT = {
  approvals: `approval p ${ofAgent("p")}`,
  tools: "LEFT JOIN tool_call t ON t.id = p.tool_call_id",
  rootId: "coalesce(a.root_id, a.id)",
  tool: "t.name",
  decisions: "decision",
  isEdited: "d.input_hash IS NOT NULL",
  erasedAt: "p.erased_at",
  approvalTexts: "p.reason, p.input",
  decisionTexts: "d.note, d.input",
};
const DELETED = {
  approvals: "deleted_approval p JOIN deleted_agent a ON a.agent_id = p.agent_id",
  tools: "",
  rootId: "a.root_id",
  tool: "p.tool",
  decisions: "deleted_decision",
  isEdited: "d.is_edited",
  erasedAt: "coalesce(p.erased_at, a.deleted_at)",
  approvalTexts: "NULL::text, NULL::json",
  decisionTexts: "NULL::text, NULL::json",
};

const approvalsOf = ({ approvals, tools, rootId, tool, decisions, isEdited, erasedAt, approvalTexts }: typeof PRESENT): string =>
  `SELECT p.id, p.tenant, p.agent_id, a.template_id, ${rootId} AS root_id, a.created_by, p.tool_call_id, ${tool} AS tool, p.host, p.kind, p.state, p.risk, p.quorum, p.requested_at, p.expires_at, p.closed_at,
    d.decision, d.decided_at, d.actor_id, EXISTS (SELECT FROM ${decisions} d WHERE d.approval_id = p.id AND ${isEdited}) AS is_edited, ${erasedAt} AS erased_at, ${approvalTexts}
  FROM ${approvals} ${tools} LEFT JOIN LATERAL (SELECT d.* FROM ${decisions} d WHERE d.approval_id = p.id AND p.state <> 'PENDING' ORDER BY d.decided_at DESC LIMIT 1) d ON true`;

const decisionsOf = ({ approvals, decisions, isEdited, erasedAt, decisionTexts }: typeof PRESENT): string =>
  `SELECT d.approval_id, d.tenant, p.agent_id, d.actor_id, d.actor_kind, d.on_behalf_of, d.decision, ${isEdited} AS is_edited, d.decided_at, p.requested_at, ${erasedAt} AS erased_at, ${decisionTexts}
  FROM ${approvals} JOIN ${decisions} d ON d.approval_id = p.id`;

export const APPROVAL: View = {
  schema: "bi",
  name: "approval",
  meaning: "Questions to people. Those of deleted agents stay, without their texts and calls.",
  tables: `(${approvalsOf(PRESENT)} UNION ALL ${approvalsOf(DELETED)}) p`,
  of: "p",
  columns: [
    ["approval_id", "p.id", "Id of the approval."],
    relay("Approval", "p.id"),
    ["agent_id", "p.agent_id", "Agent whose work needs the approval."],
    ["template_id", "p.template_id", "Template of the agent."],
    ["root_agent_id", "p.root_id", "First agent of its tree; the agent itself if a person started it."],
    ["requested_by", "p.created_by", "Actor that created the agent."],
    ["call_id", "p.tool_call_id", "Call that it is about; null if it is about something else."],
    ["tool", "p.tool", "Tool of that call."],
    ["host", "p.host", "Host that it is about; null if it is about something else."],
    ["kind", "p.kind::text", "Kind of question."],
    ["state", "p.state::text", "State of the approval."],
    ["risk", "upper(p.risk)", "Risk of the action."],
    ["quorum", "coalesce(p.quorum, 1)", "How many people must allow it."],
    ["requested_at", "p.requested_at", "Time of the request."],
    ["expires_at", "p.expires_at", "Time at which it expires; null if never."],
    ["closed_at", "p.closed_at", "Time at which it was closed; null while it is pending."],
    ["decision", "p.decision::text", "Latest decision on a closed approval; null without one."],
    ["decided_at", "p.decided_at", "Time of that decision."],
    ["decided_by", "p.actor_id", "Actor that made it."],
    [
      "waited_ms",
      "extract(epoch FROM p.decided_at - p.requested_at)::float8 * 1000",
      "Time from the request to that decision in ms.",
    ],
    ["is_edited", "p.is_edited", "True if a decision allowed another input."],
    ["erased_at", "p.erased_at", "Time at which its texts were erased, or its agent deleted."],
  ],
};

export const DECISION: View = {
  schema: "bi",
  name: "decision",
  meaning: "Decisions of people on approvals. Those about deleted agents stay, without their texts.",
  tables: `(${decisionsOf(PRESENT)} UNION ALL ${decisionsOf(DELETED)}) d`,
  of: "d",
  columns: [
    ["approval_id", "d.approval_id", "Approval that was decided."],
    ["agent_id", "d.agent_id", "Agent whose work needed it."],
    ["decided_by", "d.actor_id", "Actor that decided."],
    ["decided_by_kind", "d.actor_kind::text", "Kind of that actor."],
    ["on_behalf_of", "d.on_behalf_of", "Actor on whose behalf it was decided; null for the own name."],
    ["decision", "d.decision::text", "The decision."],
    ["is_edited", "d.is_edited", "True if it allowed another input."],
    ["decided_at", "d.decided_at", "Time of the decision."],
    [
      "waited_ms",
      "extract(epoch FROM d.decided_at - d.requested_at)::float8 * 1000",
      "Time from the request to the decision in ms.",
    ],
    ["erased_at", "d.erased_at", "Time at which its note and input were erased, or the agent deleted."],
  ],
};
