import { APPROVAL, DECISION } from "./approval-views.ts";
import { CONTENT, EVENTS, ofAgent } from "./content-views.ts";
import { relay, type Column, type View } from "./view.ts";

const OF_AGENT: readonly Column[] = [
  ["template_id", "a.template_id", "Template of the agent."],
  ["root_agent_id", "coalesce(a.root_id, a.id)", "First agent of its tree; the agent itself if a person started it."],
  ["requested_by", "a.created_by", "Actor that created the agent."],
];

const TOOL_CALL: View = {
  schema: "bi",
  name: "tool_call",
  meaning: "Tool calls, whatever became of them. Copies that forks have are marked by copy_of.",
  tables: `tool_call t ${ofAgent("t")}`,
  of: "t",
  columns: [
    ["call_id", "t.id", "Id of the call, as in logs and events."],
    relay("ToolCall", "t.id"),
    ["agent_id", "t.agent_id", "Agent that made the call."],
    ...OF_AGENT,
    ["name", "t.name", "Name of the tool."],
    ["state", "t.state::text", "State of the call."],
    ["verdict", "upper(t.verdict)", "ALLOW, ASK or DENY; null if it was not evaluated."],
    ["rule", "CASE WHEN t.verdict IS NOT NULL THEN t.explanation ->> 'decidedBy' END", "Rule, list, mode or hook that decided."],
    ["place", "CASE WHEN t.verdict IS NOT NULL THEN t.explanation ->> 'place' END", "Place of the rule in the configuration."],
    ["error_type", "t.error ->> 'type'", "Type of the error; null for none."],
    ["error_stage", "t.error ->> 'stage'", "Stage of the gate that refused the call or failed."],
    ["is_error", "t.is_error", "True if the call ended with an error."],
    ["turn", "t.turn", "Turn in which the call was made."],
    ["step", "t.step", "Step whose answer made the call."],
    ["attempt", "t.attempt", "How many times it started to run."],
    ["created_at", "t.created_at", "Time at which the model requested it."],
    ["started_at", "t.started_at", "Time at which it first started to run; null if it has not run."],
    ["completed_at", "t.completed_at", "Time at which it reached its final state."],
    [
      "duration_ms",
      "t.duration_ms",
      "Run time in ms; of a call that did not run, the time in the gate without waiting for people.",
    ],
    ["copy_of", "t.copied_from", "Original call, if a fork copied this one."],
    ["cached_from", "t.cached_from", "Earlier call whose result was reused."],
    ["erased_at", "t.erased_at", "Time at which its input and result were erased."],
    [
      "model",
      "(SELECT s.model FROM step s WHERE s.agent_id = t.agent_id AND s.step = t.step)",
      "Name at its provider of the model whose step made the call.",
    ],
    ["exit_code", "t.exit_code", "Exit code of a shell call; null for other tools, and if a signal ended the command."],
    [
      "hosts",
      "CASE WHEN t.hosts IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(t.hosts)) END",
      "Hosts that it asked to reach, allowed or not; null for none.",
    ],
    [
      "risk",
      "(SELECT upper((array_agg(p.risk ORDER BY p.risk_rank DESC))[1]) FROM approval p WHERE p.tool_call_id = t.id)",
      "Highest risk of its approvals; null without any.",
    ],
    [
      "waited_ms",
      "(SELECT sum(extract(epoch FROM p.closed_at - p.requested_at)::float8 * 1000) FROM approval p WHERE p.tool_call_id = t.id)",
      "Times from request to end of its approvals in ms, summed up; null without a closed one.",
    ],
  ],
};

const TOKENS: readonly Column[] = [
  ["input_tokens", "s.input_tokens", "Input tokens outside of the provider's cache."],
  ["output_tokens", "s.output_tokens", "Output tokens."],
  ["cache_read_tokens", "s.cache_read_tokens", "Input tokens read from the provider's cache."],
  ["cache_write_tokens", "s.cache_write_tokens", "Input tokens written to the provider's cache."],
];

const STEP: View = {
  schema: "bi",
  name: "step",
  meaning: "Model calls. A step that a fork copied was paid for once: leave out rows with copy_of_agent_id in sums.",
  tables: `step s ${ofAgent("s")}`,
  of: "s",
  columns: [
    ["agent_id", "s.agent_id", "Agent of the step."],
    ...OF_AGENT,
    ["turn", "s.turn", "Turn of the step."],
    ["step", "s.step", "Number of the step, from 1."],
    ["state", "s.state::text", "State of the step."],
    ["model", "s.model", "Name of the model at its provider."],
    ["stop_reason", "s.stop_reason", "Why the model stopped."],
    ...TOKENS,
    ["output_is_estimated", "s.output_is_estimated", "True if the provider did not report the output tokens."],
    ["cost_usd", "s.cost_usd", "Cost in US dollars by the price at the time; null if the model had no price."],
    ["started_at", "s.started_at", "Start of the model call."],
    ["completed_at", "s.completed_at", "End of the model call."],
    [
      "duration_ms",
      "CASE WHEN s.completed_at < s.started_at THEN 0 ELSE extract(epoch FROM s.completed_at - s.started_at)::float8 * 1000 END",
      "Time of the model call in ms.",
    ],
    ["copy_of_agent_id", "s.copied_from", "Agent whose step a fork copied; null for an own one."],
    ["error_type", "s.error_type", "Kind of the failure of the model call; null if it did not fail."],
  ],
};

const TURN: View = {
  schema: "bi",
  name: "turn",
  meaning: "Turns that have a step, with the sums of their own steps. Steps that a fork copied are left out.",
  tables: `step s ${ofAgent("s")} AND s.copied_from IS NULL`,
  of: "s",
  groupBy: "s.agent_id, s.turn, a.template_id, a.root_id, a.id, a.created_by",
  columns: [
    ["agent_id", "s.agent_id", "Agent of the turn."],
    ...OF_AGENT,
    ["turn", "s.turn", "Number of the turn, from 1."],
    ["steps", "count(*)", "Steps of the turn."],
    ...TOKENS.map(([name, sql, meaning]): Column => [name, `coalesce(sum(${sql}), 0)`, meaning]),
    ["cost_usd", "coalesce(sum(s.cost_usd), 0)", "Cost of the priced steps in US dollars, without compactions."],
    [
      "unpriced_steps",
      "count(*) FILTER (WHERE s.input_tokens IS NOT NULL AND s.cost_usd IS NULL)",
      "Steps with counted tokens whose model had no price.",
    ],
    ["started_at", "min(s.started_at)", "Start of the first step."],
    ["completed_at", "max(s.completed_at)", "End of the last step that has ended."],
    [
      "error_type",
      "(array_agg(s.error_type ORDER BY s.step DESC))[1]",
      "Kind of the failure of its last step; null if that did not fail.",
    ],
  ],
};

const MESSAGE: View = {
  schema: "bi",
  name: "message",
  meaning: "Messages without their texts.",
  tables: `message m ${ofAgent("m")}`,
  of: "m",
  columns: [
    ["message_id", "m.id", "Id of the message."],
    relay("Message", "m.id"),
    ["agent_id", "m.agent_id", "Agent of the conversation."],
    ["kind", "m.kind::text", "Author of the message."],
    ["turn", "m.turn", "Turn of the message; null while it is queued."],
    ["step", "m.step", "Step with which it joined, or that wrote it."],
    ["bytes", "m.bytes", "Bytes of its content."],
    ["sent_by", "m.created_by", "Actor that sent it; null for the agent's own."],
    ["created_at", "m.created_at", "Creation time."],
    ["withdrawn_at", "m.withdrawn_at", "Time at which it was withdrawn from the queue."],
    ["erased_at", "m.erased_at", "Time at which its content was erased."],
  ],
};

const EVENT: View = {
  schema: "bi",
  name: "event",
  meaning: "Events of the log without their payloads, as far as retention has kept them.",
  tables: EVENTS,
  of: "e",
  columns: [
    ["position", "e.position", "Position in the log of the tenant."],
    ["agent_id", "e.agent_id", "Agent of the event; null for events of the tenant itself."],
    ["seq", "e.seq", "Sequence number among the events of its agent."],
    ["channel", "e.channel", "Plane of the event."],
    ["kind", "e.kind", "Kind of the event."],
    ["timestamp", "e.at", "Time of the event."],
  ],
};

const AGENT: View = {
  schema: "bi",
  name: "agent",
  meaning: "Agents as they are now.",
  tables: "agent a",
  of: "a",
  columns: [
    ["agent_id", "a.id", "Id of the agent."],
    relay("Agent", "a.id"),
    ...OF_AGENT,
    ["model", "a.model", "Name of the configured model."],
    ["state", "a.state::text", "State of the agent."],
    ["breakpoint", "a.breakpoint::text", "Current stage within the turn."],
    ["turn", "a.turn", "Number of turns started."],
    ["step_count", "a.step_count", "Number of steps started."],
    ["done_reason", "a.done_reason", "How the latest completed turn ended."],
    ["created_at", "a.created_at", "Creation time."],
    ["last_activity_at", "a.last_activity_at", "Time of the latest message, request, decision or end of a turn."],
    ["archived_at", "a.archived_at", "Time of archiving; null if it is not archived."],
    ["parent_agent_id", "a.parent_id", "Agent that started this one; null if a person did."],
    ["depth", "a.depth", "Number of agents above this one."],
  ],
};

const DELETED_AGENT: View = {
  schema: "bi",
  name: "deleted_agent",
  meaning:
    "Agents that were deleted with their rows. From then on the views have no rows of them, but for approvals and decisions. Groups of the API have all.",
  tables: "deleted_agent d",
  of: "d",
  columns: [
    ["agent_id", "d.agent_id", "Id that the agent had."],
    ["root_agent_id", "d.root_id", "First agent of its tree; the agent itself if a person started it."],
    ["template_id", "d.template_id", "Template of the agent."],
    ["requested_by", "d.created_by", "Actor that created the agent."],
    ["created_at", "d.created_at", "Creation time of the agent."],
    ["deleted_at", "d.deleted_at", "Time of the deletion."],
    ["deleted_by", "d.deleted_by", "Administrator that deleted it."],
    ["removed_at", "d.removed_at", "Time at which the last of its rows was removed; null before."],
  ],
};

const RULE: View = {
  schema: "bi",
  name: "rule",
  meaning: "Stored allow rules, active or not.",
  tables: "allow_rule r",
  of: "r",
  columns: [
    ["rule_id", "r.id", "Id of the rule."],
    relay("AllowRule", "r.id"),
    ["template_id", "r.template_id", "Template to whose agents it applies."],
    ["agent_id", "r.agent_id", "The only agent to which it applies; null for all."],
    ["rule", "r.rule", "The rule as in the configuration."],
    ["approval_id", "r.approval_id", "Approval from which it was created."],
    ["created_by", "r.created_by", "Actor that stored it."],
    ["created_at", "r.created_at", "Time at which it was stored."],
    ["expires_at", "r.expires_at", "First moment at which it no longer applies; null for never."],
    ["revoked_at", "r.revoked_at", "Time of revocation."],
    ["revoked_by", "r.revoked_by", "Actor that revoked it."],
    [
      "is_active",
      "r.revoked_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > now())",
      "True until it is revoked or expires.",
    ],
    ["use_count", "r.use_count", "Ended calls that ran by it, about a second behind."],
    ["last_used_at", "r.last_used_at", "Start of the last of these calls."],
  ],
};

const COMPACTION: View = {
  schema: "bi",
  name: "compaction",
  meaning:
    "Compactions of context windows. The model call of a summary belongs to no step or turn: all costs are those of steps and compactions. Copies that forks have are marked by copy_of_agent_id.",
  tables: `compaction c ${ofAgent("c")}`,
  of: "c",
  columns: [
    ["compaction_id", "c.id", "Id of the compaction."],
    ["agent_id", "c.agent_id", "Agent whose context was compacted."],
    ...OF_AGENT,
    ["asked_by", "c.requested_by", "Actor that asked for it; null if its context was full."],
    ["method", "c.method", "CLEARED, SUMMARY or SHORTENED."],
    ["state", "c.state", "State of the compaction."],
    ["model", "c.model", "Name at its provider of the model that made the summary; null without one."],
    ...TOKENS.map(([name, sql, meaning]): Column => [name, sql.replace("s.", "c."), meaning]),
    ["cost_usd", "c.cost_usd", "Cost in US dollars by the price at the time; null if the model had no price."],
    ["tokens_before", "c.tokens_before", "Size of the context before, in tokens."],
    ["tokens_after", "c.tokens_after", "Size of the context after, in tokens."],
    ["applied_at_step", "c.applied_at_step", "First step with the compacted context."],
    ["asked_at", "c.asked_at", "Time of the request."],
    ["started_at", "c.started_at", "Start."],
    ["ended_at", "c.ended_at", "End."],
    ["copy_of_agent_id", "c.copied_from", "Agent whose compaction a fork copied; null for an own one."],
  ],
};

const OF_ROWS = [TOOL_CALL, APPROVAL, DECISION, STEP, TURN, MESSAGE, EVENT, AGENT, DELETED_AGENT, RULE, COMPACTION];

/** All views, in the order of the page. */
export const VIEWS: readonly View[] = [...OF_ROWS, ...CONTENT];
