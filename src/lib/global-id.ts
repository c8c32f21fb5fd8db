export type NodeType =
  | "AccessToken"
  | "Agent"
  | "AllowRule"
  | "Approval"
  | "Budget"
  | "Delegation"
  | "Export"
  | "MemoryEntry"
  | "Message"
  | "Schedule"
  | "Session"
  | "ToolCall";

export const ROW_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The characters of a short id: the last ones of an id, which are random. */
const SHORT = 8;

export function shortIdOf(id: string): string {
  return id.slice(-SHORT);
}

export type NodeId = { readonly typename: string; readonly id: string };

const NODE_IDS: Readonly<Record<NodeType | "ActorRef" | "Template", RegExp>> = {
  AccessToken: ROW_ID,
  ActorRef: /^[^\0]+$/,
  Agent: ROW_ID,
  AllowRule: ROW_ID,
  Approval: ROW_ID,
  Budget: ROW_ID,
  Delegation: ROW_ID,
  Export: ROW_ID,
  MemoryEntry: ROW_ID,
  Message: ROW_ID,
  Schedule: ROW_ID,
  Session: ROW_ID,
  Template: /^[^\0]+$/,
  ToolCall: ROW_ID,
};

const NO_NODE: NodeId = { typename: "Agent", id: "00000000-0000-0000-0000-000000000000" };

/** The parts of a Relay id. Invalid texts are answered like ids of missing objects. */
export function nodeIdOf(globalId: string): NodeId {
  const [, typename = "", id = ""] = /^(\w+):(.+)$/s.exec(Buffer.from(globalId, "base64").toString("utf8")) ?? [];
  const isKnown = Object.entries(NODE_IDS).some(([type, form]) => type === typename && form.test(id));
  return isKnown ? { typename, id } : NO_NODE;
}

export function globalId(type: NodeType, id: string): string {
  return Buffer.from(`${type}:${id}`).toString("base64");
}

/** The row's id in a Relay id. Empty for a text that is no id of this type, so that no row is found. */
export function rowId(type: NodeType, id: string): string {
  const text = Buffer.from(id, "base64").toString("utf8");
  return text.startsWith(`${type}:`) && ROW_ID.test(text.slice(type.length + 1)) ? text.slice(type.length + 1) : "";
}

export function actorGlobalId({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return Buffer.from(`ActorRef:${kind}:${id}`).toString("base64");
}

export function actorOfGlobalId(text: string): { readonly kind: "USER" | "SERVICE" | "SYSTEM"; readonly id: string } | null {
  const [, kind, id] = /^ActorRef:(USER|SERVICE|SYSTEM):(.+)$/s.exec(Buffer.from(text, "base64").toString("utf8")) ?? [];
  if (id === undefined || (kind !== "USER" && kind !== "SERVICE" && kind !== "SYSTEM")) return null;
  return { kind, id };
}
