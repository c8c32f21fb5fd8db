import { createHash, randomUUIDv7 } from "node:crypto";
import canonicalize from "canonicalize";
import type { OwnerChange } from "../../../db/commit/change.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { EventLog } from "../../../events/log.ts";
import { visibleLine } from "../../../lib/escape-hidden.ts";
import type { Clock } from "../../../lib/time.ts";
import { MOST_HOSTS, type AskedInBackground, type ProgramOfCall } from "../../calls/hosts/call-hosts.ts";
import type { HostQuestion } from "../../calls/hosts/host-question.ts";
import { COMMAND_BEGINNING, shellNames, type ShellName } from "../../calls/shells/rows.ts";
import type { HeldTemplate } from "../../policy/held-template.ts";
import { hostText, USUAL_PORTS, type Host } from "../../policy/hosts/host-rule.ts";
import { questionRow, waitFor } from "../request.ts";
import type { ApprovalTemplate } from "../scope.ts";

type AskingAgent = { readonly id: string; readonly tenant: string };

export type HostRequest = {
  readonly row: NonNullable<OwnerChange["approvals"]>[number];
  readonly event: AgentEventBody;
  readonly question: HostQuestion;
};

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
    row: questionRow(agent, { ...asked, id, input: { host, port }, expiresAt }, at),
    event: {
      kind: "PERMISSION_REQUIRED",
      request: { ...asked, approvalId: id, call: null, expiresAt: expiresAt?.toISOString() ?? null },
    },
    question: { approvalId: id, host, port, state: "PENDING", note: null },
  };
}

/** SHA-256 over the RFC 8785 form of everything that an ALLOW is bound to. */
function hostHash({ id, tenant }: AskingAgent, { host, port }: Host): string {
  const form = canonicalize({ agent: id, host, port, tenant }) ?? "";
  return createHash("sha256").update(form).digest("hex");
}

type AskingServices = {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly heldTemplate: HeldTemplate<Pick<ApprovalTemplate, "approvalQuorum" | "approvalExpiresMs">>;
};

/**
 * The agent's open question for the host, and the program's questions. `hasAsked`: the program's question is open or
 * answered; `running`: the shells of its call, empty if it has ended.
 */
type Asked = {
  readonly open: string | null;
  readonly hasAsked: boolean;
  readonly hosts: number;
  readonly running: readonly ShellName[];
};

const FIND: Statement<Asked, [agentId: string, callId: string, host: string, port: number]> = {
  name: "find_asked_in_background",
  text: `SELECT (SELECT p.id FROM approval p WHERE p.agent_id = $1 AND p.host = $3 AND p.port = $4 AND p.state = 'PENDING') AS open,
      coalesce(bool_or(p.host = $3 AND p.port = $4 AND p.state IN ('PENDING', 'ALLOWED', 'DENIED')), false) AS "hasAsked", count(*)::int AS hosts,
      (SELECT coalesce(json_agg(json_build_object('id', s.id, 'command', ${COMMAND_BEGINNING}) ORDER BY s.started_at, s.id), '[]')
        FROM shell s WHERE s.agent_id = $1 AND s.state = 'RUNNING' AND s.call_id = $2) AS running
    FROM wait r JOIN approval p ON p.id = r.ref WHERE r.call_id = $2 AND r.kind = 'SHELL_HOST'`,
};

/** After this many conflicts, a question is an internal error. */
const TRIES = 20;

/**
 * Asks about a host for a program that outlives its call, or joins the host's open question. No result waits for the
 * answer: the model is told at the agent's next step. A program asks once a host, about at most MOST_HOSTS, and not
 * after its end. It needs no lease: the agent's row is locked, and a concurrent question is joined.
 */
export async function askInBackground(services: AskingServices, program: ProgramOfCall, host: Host): Promise<AskedInBackground> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const result = await tryToAsk(services, program, host);
    if (result !== "somebody was faster") return result;
  }
  throw new Error(`${host.host} could not be asked for in ${TRIES} tries`);
}

async function tryToAsk(
  { sql, log, clock, heldTemplate }: AskingServices,
  { agent, callId }: ProgramOfCall,
  host: Host,
): Promise<AskedInBackground | "somebody was faster"> {
  const [asked] = await sql.query(FIND, [agent.id, callId, host.host, host.port]);
  if (asked === undefined) throw new Error("a query without a GROUP BY answers a row");
  if (asked.running.length === 0) return "left out";
  if (asked.hasAsked) return "asked before";
  if (asked.hosts >= MOST_HOSTS) return "left out";
  const template = await heldTemplate(agent);
  if ("missing" in template) return "left out";
  const at = clock.now();
  const part = { agentId: agent.id, createdBy: agent.createdBy };
  if (asked.open !== null) {
    const change = {
      waits: [waitFor("SHELL_HOST", agent, { callId, ref: asked.open, due: null })],
    };
    const { outcome } = await log.commit(agent.tenant, { ...part, events: [] }, change);
    return outcome === "COMMITTED" ? "asked" : "somebody was faster";
  }
  const { row, event } = askHost(agent, host, visibleLine(shellNames(asked.running)), template, at);
  const { outcome } = await log.commit(
    agent.tenant,
    { ...part, events: [{ at, body: event }] },
    {
      approvals: [row],
      waits: [waitFor("SHELL_HOST", agent, { callId, ref: row.id, due: row.expiresAt })],
    },
  );
  return outcome === "COMMITTED" ? "asked" : "somebody was faster";
}
