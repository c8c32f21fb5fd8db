import { isJsonObject, type Json } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { agentPermissions } from "../../policy/agent-policy.ts";
import { judgeConnection } from "../../policy/judge.ts";
import type { PolicyTemplate } from "../../policy/held-template.ts";
import type { CallingAgent } from "../call.ts";
import type { HostServices } from "./call-hosts.ts";
import type { CallExplanation } from "../judge.ts";

export type ConnectionProblem = { readonly field: string; readonly message: string };

/** The verdict on a hypothetical connection, and its reason. The default port is 443. */
export async function explainHost(
  services: HostServices,
  agent: Pick<CallingAgent, "id" | "tenant" | "permission"> & {
    readonly template: Omit<PolicyTemplate, "box"> & { readonly id: string };
  },
  input: Json,
): Promise<Result<CallExplanation, ConnectionProblem>> {
  const { host, port = 443, ...others } = isJsonObject(input) ? input : {};
  if (typeof host !== "string") return refused({ field: "host", message: "must be a host: the name or the address of one" });
  if (typeof port !== "number") return refused({ field: "port", message: "must be a number from 1 to 65535" });
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return refused({ field: unknown, message: "of a connection, only host and port are looked at" });
  const { template, permission } = agent;
  const storedHosts = await services.hostRules.of({ ...agent, templateId: template.id });
  const permissions = agentPermissions(template, permission, services);
  const explanation = judgeConnection({ ...permissions, listedHosts: services.listedHosts ?? [], storedHosts }, host, port);
  const values = { host: [{ kind: "text", text: host }], port: [{ kind: "text", text: String(port) }] } as const;
  return accepted({ ...explanation, values, hooks: [] });
}
