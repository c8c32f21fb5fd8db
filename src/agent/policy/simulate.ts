import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { asListedNow } from "./commands/recorded-lines.ts";
import { storedRules } from "./stored-rules.ts";
import { agentPolicy } from "./agent-policy.ts";
import type { OwnPermission, VersionOfAgent } from "./own-permission.ts";
import type { HeldTemplate, PolicyTemplate, VersionedAgent } from "./held-template.ts";
import { readPermission, type Vocabulary } from "./permission-source.ts";
import { judge } from "./judge.ts";
import { isStricter, type Explanation, type Permission, type Policy, type Verdict } from "./permission.ts";
import { isReading, type RuleValues } from "./rule-values.ts";

/** Which recorded calls a proposed permission is asked about. Null conditions hold for all. */
export type RecordedCalls = {
  readonly tenant: string;
  /** Only calls of this creator's agents. */
  readonly createdBy: string | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  /** The first moment, and the first after the last one; null for no bound. */
  readonly from: Date | null;
  readonly to: Date | null;
};

/** A place among recorded calls: everything up to it has been looked at. */
export type CallCursor = { readonly createdAt: Date; readonly id: string };

/** The verdicts that a proposed permission is compared with: those that were recorded, or those of the present policy. */
export const BASELINES = ["RECORDED", "PRESENT"] as const;
export type Baseline = (typeof BASELINES)[number];

/** A call that would be judged otherwise: its verdict of the baseline, and how it would be explained. */
export type ChangedCall = Explanation & { readonly callId: string; readonly before: Verdict };

/** The number of calls of a tool that would go from one verdict to another. */
export type VerdictChange = { readonly tool: string; readonly before: Verdict; readonly after: Verdict; readonly calls: number };

/** The result of a simulation: the verdicts of a proposed permission on recorded calls. */
export type Simulation = {
  /** Calls that were judged when they were made; those that were refused before that are not looked at. */
  readonly examined: number;
  readonly changed: number;
  readonly examinedByTool: ReadonlyMap<string, number>;
  readonly changes: readonly VerdictChange[];
  readonly examples: readonly ChangedCall[];
  /** The place at which to go on; null if nothing is left. */
  readonly next: CallCursor | null;
};

/** The most calls of one simulation, and of one read. Between reads others have their turn. */
export const MOST_CALLS = 100_000;
const BATCH = 2_000;
/** The examples of each change of a tool, if a simulation does not say, and at most. */
export const EXAMPLES = { usual: 3, most: 50 };

/** The services of a server by which a simulation is made: the connections for what people read, and what permissions speak of. */
type SimulationServices = Vocabulary & {
  readonly reads: Sql;
  readonly heldTemplate: HeldTemplate<PolicyTemplate>;
};

type Row = {
  readonly id: string;
  readonly agentId: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly permission: OwnPermission | null;
  readonly name: string;
  readonly values: RuleValues;
  readonly verdict: Verdict;
  readonly hookVerdict: Verdict | null;
  readonly createdAt: Date;
  readonly isWanted: boolean;
};

/** The time for which the judging goes on before others have their turn, in ms. */
const TURN_MS = 10;

/** The next calls are taken first and filtered by template after, so that a read is bounded whatever the filter. */
const READ: Statement<
  Row,
  [
    tenant: string,
    createdBy: string | null,
    agentIds: readonly string[] | null,
    templateIds: readonly string[] | null,
    tools: readonly string[] | null,
    after: Date | null,
    before: Date | null,
    afterCreatedAt: Date | null,
    afterId: string | null,
    limit: number,
  ]
> = {
  name: "read_judged_calls",
  text: `SELECT t.id, t.agent_id AS "agentId", a.template_id AS "templateId", a.template_version AS "templateVersion", a.permission, t.name, t.rule_values AS values, t.verdict, t.hook_verdict AS "hookVerdict", t.created_at AS "createdAt",
      t.verdict IS NOT NULL AND t.rule_values IS NOT NULL AND ($4::text[] IS NULL OR a.template_id = ANY ($4)) AS "isWanted"
    FROM (SELECT id, agent_id, name, rule_values, verdict, hook_verdict, created_at FROM tool_call WHERE tenant = $1 AND ($2::text IS NULL OR agent_id IN (SELECT id FROM agent WHERE tenant = $1 AND created_by = $2)) AND ($3::text[] IS NULL OR agent_id = ANY ($3)) AND copied_from IS NULL AND ($5::text[] IS NULL OR name = ANY ($5))
        AND created_at >= coalesce($6::timestamptz, '-infinity') AND created_at < coalesce($7::timestamptz, 'infinity')
        AND (created_at, id) > (coalesce($8::timestamptz, '-infinity'), coalesce($9, '')) ORDER BY created_at, id LIMIT $10) t
    JOIN agent a ON a.id = t.agent_id ORDER BY t.created_at, t.id`,
};

/**
 * Judges recorded calls, the oldest first, as if the proposed permission stood in the place of their templates'. What
 * their agents' own permissions, the rules that people have stored since and the hooks of then said holds besides.
 * Nothing is changed.
 */
export async function simulate(
  services: SimulationServices,
  proposed: Permission,
  calls: RecordedCalls,
  {
    after,
    most,
    baseline = "RECORDED",
    examples: mostExamples = EXAMPLES.usual,
  }: {
    readonly after: CallCursor | null;
    readonly most: number;
    readonly baseline?: Baseline;
    readonly examples?: number;
  },
): Promise<Simulation> {
  const policies = new Policies(services, proposed, calls.tenant);
  const present = baseline === "PRESENT" ? new Policies(services, null, calls.tenant) : null;
  const examinedByTool = new Map<string, number>();
  const changes = new Map<string, { change: VerdictChange; examples: ChangedCall[] }>();
  let examined = 0;
  let left = most;
  let place = after;
  let isMore = true;
  while (isMore && left > 0) {
    const limit = Math.min(BATCH, left);
    // One more than is judged says if calls are left.
    const found = await readPiece(() => read(services, calls, place, limit + 1));
    const rows = found.slice(0, limit);
    isMore = found.length > limit;
    left -= rows.length;
    const last = rows.at(-1);
    if (last !== undefined) place = { createdAt: last.createdAt, id: last.id };
    let turn = performance.now();
    for (const row of rows.filter(({ isWanted }) => isWanted)) {
      if (performance.now() - turn > TURN_MS) {
        await setImmediate();
        turn = performance.now();
      }
      examined += 1;
      examinedByTool.set(row.name, (examinedByTool.get(row.name) ?? 0) + 1);
      const explanation = reevaluate(services, row, await policies.of(row));
      const before = present === null ? row.verdict : reevaluate(services, row, await present.of(row)).verdict;
      if (explanation.verdict !== before) count(changes, { ...row, verdict: before }, explanation, mostExamples);
    }
  }
  const counted = [...changes].sort(byName).map(([, change]) => change);
  return {
    examined,
    changed: counted.reduce((sum, { change }) => sum + change.calls, 0),
    examinedByTool: new Map([...examinedByTool].sort(byName)),
    changes: counted.map(({ change }) => change),
    examples: counted.flatMap(({ examples }) => examples),
    next: isMore ? place : null,
  };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

async function read(services: SimulationServices, calls: RecordedCalls, after: CallCursor | null, limit: number): Promise<Row[]> {
  const { tenant, createdBy, agentIds, templateIds, tools, from, to } = calls;
  return services.reads.query(READ, [
    tenant,
    createdBy,
    agentIds,
    templateIds,
    tools,
    from,
    to,
    after?.createdAt ?? null,
    after?.id ?? null,
    limit,
  ]);
}

/** The judgement of a recorded call by the policy of now. The answers that hooks gave then still hold. */
function reevaluate({ tools }: SimulationServices, { agentId, name, values, hookVerdict }: Row, policy: Policy): Explanation {
  const tool = tools.get(name);
  const readOnly = tool !== undefined && isReading(tool, values);
  const explanation = judge({ agentId, name, readOnly, values: asListedNow(values) }, policy);
  return hookVerdict !== null && isStricter(hookVerdict, explanation.verdict)
    ? { ...explanation, verdict: hookVerdict, decidedBy: "hook", place: "hook" }
    : explanation;
}

function count(
  changes: Map<string, { change: VerdictChange; examples: ChangedCall[] }>,
  { id, name, verdict: before }: Row,
  explanation: Explanation,
  most: number,
): void {
  const after = explanation.verdict;
  const key = `${name} ${before} ${after}`;
  const counted = changes.get(key) ?? { change: { tool: name, before, after, calls: 0 }, examples: [] };
  if (counted.examples.length < most) counted.examples.push({ ...explanation, callId: id, before });
  changes.set(key, { ...counted, change: { ...counted.change, calls: counted.change.calls + 1 } });
}

/** The policies of the agents of a simulation, each made once. */
class Policies {
  readonly #services: SimulationServices;
  /** Null for the present permissions. */
  readonly #proposed: Permission | null;
  readonly #tenant: string;
  readonly #known = new Map<string, Policy>();

  constructor(services: SimulationServices, proposed: Permission | null, tenant: string) {
    this.#services = services;
    this.#proposed = proposed;
    this.#tenant = tenant;
  }

  async of({ agentId, templateId, templateVersion, permission }: Row): Promise<Policy> {
    const key = permission === null ? `template ${templateId} ${templateVersion?.digest ?? ""}` : `agent ${agentId}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const agent = { tenant: this.#tenant, templateId, templateVersion, permission };
    const { rules } = await storedRules(this.#services.reads, this.#services.tools, { ...agent, id: null });
    const policy = agentPolicy(await this.#templateOf(agent), permission, rules, this.#services);
    this.#known.set(key, policy);
    return policy;
  }

  /** An agent that keeps an earlier version is bound by the proposed permission, as it would be by its template's. */
  async #templateOf(agent: VersionedAgent): Promise<PolicyTemplate> {
    const held = await this.#services.heldTemplate(agent);
    const proposed = this.#proposed;
    if ("missing" in held) return { permission: proposed ?? this.#unknown(), presentPermission: null, box: null, above: [] };
    if (proposed === null) return held;
    return held.presentPermission === null ? { ...held, permission: proposed } : { ...held, presentPermission: proposed };
  }

  /** No call of an agent runs whose template is not configured. */
  #unknown(): Permission {
    return readPermission({ mode: "deny" }, "a template that is not configured", this.#services).permission;
  }
}
