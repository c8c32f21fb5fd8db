import type { View } from "./view.ts";

export const DELETED_AGENT: View = {
  schema: "bi",
  name: "deleted_agent",
  meaning: "Agents that were deleted with their rows. Sums over views lack them from then on; groups of the API have them.",
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
