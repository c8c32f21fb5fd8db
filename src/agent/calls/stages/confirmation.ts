import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { RulesVersion, StartsBy } from "../../../db/commit/change.ts";
import type { Json } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Permitted } from "./permission.ts";
import { storedValues } from "../../policy/rule-values.ts";
import type { Validated } from "./validation.ts";

/**
 * A call that may run now, with the hash of its input: by the policy alone, by stored rules of a version, or as a
 * person decided for exactly this input. What a person said must still stand when the call starts.
 */
export type Confirmed = { readonly call: Validated; readonly inputHash: string; readonly by: StartsBy | null };

/**
 * A person's ALLOW, bound to the hash of the input that they allowed, and to the files that its paths led to then: null
 * if a server that did not record them asked. `approvalId` is null if the call has begun, and continues with the answer to
 * a question of its tool.
 */
export type Allowance = { readonly approvalId: string | null; readonly inputHash: string; readonly values: Json };

/** Why a call cannot run yet: nobody was asked, or what was allowed is not what would run now. */
export type Unconfirmed = { readonly inputHash: string; readonly reason: string };

/**
 * Stage 4: an ask never answers itself (invariant 7). What the lists allow passes; what they ask for passes only with
 * an allowance for the exact input, tool, schema and workspace. A call that was once allowed by a person keeps that
 * allowance if the lists have become more lenient since. `rules` is the version of the stored rules that allowed the call, null for none.
 */
export function confirm(
  permitted: Permitted & { kind: "allowed" | "asked" },
  rules: RulesVersion | null,
  allowance: Allowance | null,
  workspace: string,
): Result<Confirmed, Unconfirmed> {
  const { call } = permitted;
  const hash = inputHash(call, workspace);
  if (permitted.kind === "allowed") {
    return accepted({ call, inputHash: hash, by: rules === null ? null : { rules } });
  }
  if (allowance === null) return refused({ inputHash: hash, reason: permitted.reason });
  const { approvalId, inputHash: allowedHash, values } = allowance;
  if (allowedHash !== hash)
    return refused({ inputHash: hash, reason: `what was allowed has changed since: ${permitted.reason}` });
  if (values !== null && canonicalize(values) !== canonicalize(storedValues(permitted.values ?? {})))
    return refused({ inputHash: hash, reason: `the paths of what was allowed now lead elsewhere: ${permitted.reason}` });
  return accepted({ call, inputHash: hash, by: approvalId === null ? null : { approvalId, inputHash: hash } });
}

/**
 * SHA-256 over the RFC 8785 form of everything that decides what would run. An approval is bound to it: when any part
 * differs at dispatch, the approval is stale. The definition is that of an MCP server's tool.
 */
export function inputHash({ request, tool, bound }: Validated, workspace: string): string {
  const members = {
    agent: canonical(request.agentId),
    call: canonical(request.callId),
    ...(tool.definition !== null && { definition: canonical(tool.definition.digest) }),
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

/** The canonical form of a tool's schema. */
export function schemaForm(tool: Tool): string {
  const form = schemaForms.get(tool) ?? canonical(tool.inputSchema);
  schemaForms.set(tool, form);
  return form;
}

function canonical(value: Json): string {
  const form = canonicalize(value);
  if (form === undefined) throw new Error("what was parsed from JSON has a canonical form");
  return form;
}
