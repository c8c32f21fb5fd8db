import { recentlyUsed } from "../../../lib/recently-used.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { Bell } from "../../../events/bell/bell.ts";
import type { EventKind } from "../../../events/event.ts";
import type { EventLog } from "../../../events/log.ts";
import type { Clock } from "../../../lib/time.ts";
import { type StoredHostRule, isHostRule, NETWORK, parseHostRule } from "./host-rule.ts";

/** The time for which the rules of an agent are remembered, in ms: a program may try hosts as fast as it likes. */
const REMEMBERED_MS = 1_000;
/** The agents whose rules are remembered: those that asked last. */
const AGENTS = 10_000;

/** A yes to a host keeps a rule for its agent. */
const CHANGES_RULES: ReadonlySet<EventKind> = new Set(["ALLOW_RULE_STORED", "ALLOW_RULE_REVOKED", "PERMISSION_DECIDED"]);

type Remembered = { readonly tenant: string; readonly askedAt: number; readonly rules: Promise<readonly StoredHostRule[]> };

/**
 * The stored rules about hosts, by which each connection of an agent's programs is decided: asked for once a second an agent, however
 * many connections are tried, and anew as soon as a rule of the tenant changes.
 */
export class RememberedHostRules {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #agents = recentlyUsed<Remembered>(AGENTS);

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** The rules of an agent, as they stood a second ago at most. Rejects if the database does not answer. */
  of(agent: AgentOfRules): Promise<readonly StoredHostRule[]> {
    const key = JSON.stringify([agent.id, agent.templateId, agent.permission?.scope === "REPLACE"]);
    const known = this.#agents.get(key);
    const now = this.#clock.monotonicMs();
    if (known !== undefined && now - known.askedAt < REMEMBERED_MS) return known.rules;
    const rules = storedHostRules(this.#sql, agent);
    const asked: Remembered = { tenant: agent.tenant, askedAt: now, rules };
    this.#agents.set(key, asked);
    // What could not be read is asked for again.
    rules.catch(() => {
      if (this.#agents.peek(key) === asked) this.#agents.delete(key);
    });
    return rules;
  }

  /** Forgets rules when they change: by commits of this server, or perhaps by those of others. Returns the end of that. */
  follow(log: Pick<EventLog, "onCommitted">, bell: Pick<Bell, "listen">): () => void {
    log.onCommitted((tenant, events) => {
      if (events.some(({ body }) => CHANGES_RULES.has(body.kind))) this.forget(tenant);
    });
    return bell.listen((rings) => (rings.length === 0 ? this.forget(null) : rings.forEach(({ tenant }) => this.forget(tenant))));
  }

  /** Rules of a tenant may have changed; null: of any. */
  forget(tenant: string | null): void {
    for (const [key, known] of this.#agents.entries()) if (tenant === null || known.tenant === tenant) this.#agents.delete(key);
  }
}

const FIND: Statement<
  { id: string; rule: string; createdBy: string },
  [tenant: string, templateId: string, agentId: string, isReplaced: boolean]
> = {
  name: "find_host_rules",
  text: `SELECT id, rule, created_by AS "createdBy" FROM allow_rule
    WHERE tenant = $1 AND template_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > policy_time()) AND starts_with(rule, '${NETWORK}') AND (agent_id = $3 OR agent_id IS NULL AND NOT $4) ORDER BY created_at, id`,
};

/** An agent of which the stored rules are read. */
type AgentOfRules = {
  readonly id: string;
  readonly tenant: string;
  readonly templateId: string;
  readonly permission: { readonly scope: "TIGHTEN" | "REPLACE" } | null;
};

/**
 * The rules about hosts that people have stored for an agent, and for its template unless the agent has a permission in its
 * template's place.
 */
async function storedHostRules(
  sql: Sql,
  { id, tenant, templateId, permission }: AgentOfRules,
): Promise<readonly StoredHostRule[]> {
  const rows = await sql.query(FIND, [tenant, templateId, id, permission?.scope === "REPLACE"]);
  return rows.flatMap(({ id: ruleId, rule, createdBy }) => {
    if (!isHostRule(rule)) return [];
    const parsed = parseHostRule(rule, `allowRules.${ruleId}`);
    return parsed.ok ? [{ ...parsed.value, id: ruleId, createdBy }] : [];
  });
}
