import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Json } from "../../lib/json.ts";
import type { Tool } from "../tools/tool.ts";
import type { Validated } from "./validation.ts";

/**
 * SHA-256 over the RFC 8785 form of everything that decides what would run. An approval is bound to it: when any part
 * differs at dispatch, the approval is stale.
 */
export function inputHash({ request, tool, bound }: Validated, workspace: string): string {
  const members = {
    agent: canonical(request.agentId),
    call: canonical(request.callId),
    input: canonical(bound.input),
    schema: schemaForm(tool),
    tenant: canonical(request.tenant),
    tool: canonical(tool.name),
    workspace: canonical(workspace),
  };
  // The canonical form of an object is that of its members, by name: so a schema is brought into its form once.
  const form = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  return createHash("sha256")
    .update(`{${form.join(",")}}`)
    .digest("hex");
}

const schemaForms = new WeakMap<Tool, string>();

function schemaForm(tool: Tool): string {
  const form = schemaForms.get(tool) ?? canonical(tool.inputSchema);
  schemaForms.set(tool, form);
  return form;
}

function canonical(value: Json): string {
  const form = canonicalize(value);
  if (form === undefined) throw new Error("what was parsed from JSON has a canonical form");
  return form;
}
