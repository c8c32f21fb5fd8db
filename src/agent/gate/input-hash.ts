import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Validated } from "./validation.ts";

/**
 * SHA-256 over the RFC 8785 form of everything that decides what would run. An approval is bound to it: when any part
 * differs at dispatch, the approval is stale.
 */
export function inputHash({ request, tool, bound }: Validated, workspace: string): string {
  const form = canonicalize({
    tenant: request.tenant,
    agent: request.agentId,
    call: request.callId,
    tool: tool.name,
    schema: tool.inputSchema,
    input: bound.input,
    workspace,
  });
  if (form === undefined) throw new Error("an input that was parsed from JSON has a canonical form");
  return createHash("sha256").update(form).digest("hex");
}
