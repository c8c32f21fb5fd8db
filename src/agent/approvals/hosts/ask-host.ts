import { createHash, randomUUIDv7 } from "node:crypto";
import canonicalize from "canonicalize";
import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { HostQuestion } from "../../calls/hosts/host-question.ts";
import { hostText, USUAL_PORTS, type Host } from "../../policy/hosts/host.ts";
import type { ApprovalTemplate } from "../template.ts";

type AskingAgent = { readonly id: string; readonly tenant: string };

export type HostRequest = {
  readonly row: NonNullable<OwnerChange["approvals"]>[number];
  readonly event: AgentEventBody;
  readonly question: HostQuestion;
};

export type AskedFor = NonNullable<OwnerChange["hostRequests"]>[number];

export function askHost(
  agent: AskingAgent,
  { host, port }: Host,
  asking: string,
  { approvalQuorum, approvalExpiresMs }: Pick<ApprovalTemplate, "approvalQuorum" | "approvalExpiresMs">,
  at: Date,
): HostRequest {
  const id = randomUUIDv7();
  const expiresAt = approvalExpiresMs === null ? null : new Date(at.getTime() + approvalExpiresMs);
  const inputHash = hostHash(agent, { host, port });
  // The rule that an ALLOW stores.
  const opened = USUAL_PORTS.includes(port) ? `its ports ${USUAL_PORTS.join(" and ")}` : "this port alone";
  const asked = {
    kind: "NETWORK_HOST",
    host,
    port,
    inputHash,
    reason: `${asking} wants to connect to ${hostText({ host, port })}, which no rule allows: ALLOW opens ${opened}`,
    risk: "MEDIUM",
    meta: null,
    quorum: approvalQuorum,
  } as const;
  return {
    row: {
      ...asked,
      id,
      tenant: agent.tenant,
      agentId: agent.id,
      toolCallId: null,
      state: "PENDING",
      input: { host, port },
      preview: null,
      requestedAt: at,
      expiresAt,
      closedAt: null,
      erasedAt: null,
    },
    event: {
      kind: "PERMISSION_REQUIRED",
      request: { ...asked, approvalId: id, call: null, expiresAt: expiresAt?.toISOString() ?? null },
    },
    question: { approvalId: id, host, port, state: "PENDING", note: null },
  };
}

export function askedFor(agent: AskingAgent, callId: string, approvalId: string, inBackground: boolean): AskedFor {
  return { approvalId, toolCallId: callId, inBackground, tenant: agent.tenant, agentId: agent.id, toldAt: null };
}

/** SHA-256 over the RFC 8785 form of everything that an ALLOW is bound to. */
function hostHash({ id, tenant }: AskingAgent, { host, port }: Host): string {
  const form = canonicalize({ agent: id, host, port, tenant }) ?? "";
  return createHash("sha256").update(form).digest("hex");
}
