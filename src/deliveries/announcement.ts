import type { TimelineEvent } from "../events/event.ts";
import { actorGlobalId, globalId, type NodeType } from "../lib/global-id.ts";
import { isJsonObject, type Json, type JsonObject } from "../lib/json.ts";

/**
 * An event as webhooks announce it: the ids of the API, with which receivers read the rest. A call's input is not sent:
 * it is read with a token.
 */
export function announcement({ body, tenant, agentId, seq, at }: TimelineEvent): object {
  const { kind, ...fields } = body;
  const common = { tenant, agentId: agentId === null ? null : globalId("Agent", agentId), seq };
  return { type: kind, timestamp: at.toISOString(), data: { ...common, ...withGlobalIds(flat(fields)) } };
}

/** Merges the fields of a request, and of its call, into the event's fields. */
function flat({ request, ...fields }: JsonObject): JsonObject {
  if (!isJsonObject(request)) return fields;
  const { call, ...asked } = request;
  if (!isJsonObject(call)) return { ...fields, ...asked };
  const { callId = null, name: tool = null, inputPreview = null } = call;
  return { ...fields, ...asked, callId, tool, inputPreview };
}

const IDS: Readonly<Record<string, NodeType>> = {
  agentId: "Agent",
  messageId: "Message",
  messageIds: "Message",
  approvalId: "Approval",
  forkedFrom: "Agent",
  allowRuleId: "AllowRule",
  delegationId: "Delegation",
};

/** The fields with JSON of the operator's code and of models, which contains no ids of the API. */
const OWN_JSON: ReadonlySet<string> = new Set(["eventData", "meta", "parameters"]);

function withGlobalIds(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withIds(name, value)]));
}

function withIds(name: string, value: Json): Json {
  if (OWN_JSON.has(name)) return value;
  const type = IDS[name];
  if (type !== undefined && typeof value === "string") return globalId(type, value);
  if (Array.isArray(value)) return value.map((item: Json) => withIds(name, item));
  if (!isJsonObject(value)) return value;
  const { id, kind } = value;
  return typeof id === "string" && typeof kind === "string" && Object.keys(value).length === 2
    ? { id: actorGlobalId({ id, kind }), kind, actorId: id }
    : withGlobalIds(value);
}
