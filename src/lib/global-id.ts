/** Types that `node(id)` answers, of which there are rows. */
export type NodeType = "Agent" | "AllowRule" | "Approval" | "Delegation" | "Message" | "ToolCall";

/** Rows have UUIDs as ids. */
export const ROW_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A Relay id in its parts. */
export type NodeId = { readonly typename: string; readonly id: string };

/** The forms of the ids of all types that `node(id)` answers. */
const NODE_IDS: Readonly<Record<NodeType | "ActorRef" | "Template", RegExp>> = {
  ActorRef: /^[^\0]+$/,
  Agent: ROW_ID,
  AllowRule: ROW_ID,
  Approval: ROW_ID,
  Delegation: ROW_ID,
  Message: ROW_ID,
  Template: /^[^\0]+$/,
  ToolCall: ROW_ID,
};

/** The parts of an id that no object has. */
const NO_NODE: NodeId = { typename: "Agent", id: "00000000-0000-0000-0000-000000000000" };

/** The parts of a Relay id. A text that is none has parts that name nothing: it is answered as if its object did not exist. */
export function nodeIdOf(globalId: string): NodeId {
  const [, typename = "", id = ""] = /^(\w+):(.+)$/s.exec(Buffer.from(globalId, "base64").toString("utf8")) ?? [];
  const isKnown = Object.entries(NODE_IDS).some(([type, form]) => type === typename && form.test(id));
  return isKnown ? { typename, id } : NO_NODE;
}

/** The Relay id of a row. */
export function globalId(type: NodeType, id: string): string {
  return Buffer.from(`${type}:${id}`).toString("base64");
}

/** The row's id in a Relay id. A text that is no id of this type gives the empty text, which is no row's id: no row is found. */
export function rowId(type: NodeType, id: string): string {
  const text = Buffer.from(id, "base64").toString("utf8");
  return text.startsWith(`${type}:`) && ROW_ID.test(text.slice(type.length + 1)) ? text.slice(type.length + 1) : "";
}

/** The Relay id of an actor: of one kind and id, whatever the tenant. */
export function actorGlobalId({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return Buffer.from(`ActorRef:${kind}:${id}`).toString("base64");
}

/** The kind and id of an actor in a Relay id, or null if the text is no id of an actor. */
export function actorOfGlobalId(text: string): { readonly kind: "USER" | "SERVICE" | "SYSTEM"; readonly id: string } | null {
  const [, kind, id] = /^ActorRef:(USER|SERVICE|SYSTEM):(.+)$/s.exec(Buffer.from(text, "base64").toString("utf8")) ?? [];
  if (id === undefined || (kind !== "USER" && kind !== "SERVICE" && kind !== "SYSTEM")) return null;
  return { kind, id };
}
