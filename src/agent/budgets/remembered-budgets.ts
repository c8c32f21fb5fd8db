import { recentlyUsed } from "../../lib/recently-used.ts";
import type { ActorKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { Bell } from "../../events/bell/bell.ts";
import { BUDGET_PERS, type BudgetPer } from "../../events/budgets/budget-question.ts";
import type { EventKind } from "../../events/event.ts";
import type { EventLog } from "../../events/log.ts";
import type { Clock } from "../../lib/time.ts";
import { BUDGET_ACTIONS, BUDGET_WINDOWS, type Budget, type BudgetAction, type BudgetWindow } from "./budget.ts";

/** Commits of other servers ring for many reasons: the budgets of a tenant are read again once in this time, in ms. */
const READ_AGAIN_MS = 1_000;
const TENANTS = 10_000;

const CHANGES_BUDGETS: ReadonlySet<EventKind> = new Set(["BUDGET_SET", "BUDGET_REVOKED"]);

type Remembered = { readonly readAt: number; readonly budgets: Promise<readonly Budget[]>; isStale: boolean };

/** The budgets that administrators have set, remembered: a tenant without any costs its steps no statement. */
export class RememberedBudgets {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #tenants = recentlyUsed<Remembered>(TENANTS);

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** The budgets of a tenant that are not revoked. Rejects if the database does not answer. */
  of(tenant: string): Promise<readonly Budget[]> {
    const known = this.#tenants.get(tenant);
    const now = this.#clock.monotonicMs();
    if (known !== undefined && !(known.isStale && now - known.readAt >= READ_AGAIN_MS)) return known.budgets;
    const read: Remembered = { readAt: now, budgets: readBudgets(this.#sql, tenant, false), isStale: false };
    this.#tenants.set(tenant, read);
    read.budgets.catch(() => {
      if (this.#tenants.peek(tenant) === read) this.#tenants.delete(tenant);
    });
    return read.budgets;
  }

  /** Forgets budgets when they change: by commits of this server, or perhaps by those of others. Returns the end of that. */
  follow(log: Pick<EventLog, "onCommitted">, bell: Pick<Bell, "listen">): () => void {
    log.onCommitted((tenant, events) => {
      if (events.some(({ body }) => CHANGES_BUDGETS.has(body.kind))) this.#tenants.delete(tenant);
    });
    return bell.listen((rings) => {
      if (rings.length === 0) for (const known of this.#tenants.values()) known.isStale = true;
      for (const { tenant } of rings) this.#makeStale(tenant);
    });
  }

  #makeStale(tenant: string): void {
    const known = this.#tenants.peek(tenant);
    if (known !== undefined) known.isStale = true;
  }
}

type Row = {
  readonly id: string;
  readonly per: string;
  readonly subject: string;
  readonly millionths: number | null;
  readonly tokens: number | null;
  readonly window: string;
  readonly timeZone: string;
  readonly warnAt: number;
  readonly action: string;
  readonly createdBy: string;
  readonly createdByKind: ActorKind;
  readonly createdAt: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly revokedByKind: ActorKind | null;
};

const READ: Statement<{ budget: Row }, [tenant: string, withRevoked: boolean]> = {
  name: "read_budgets",
  text: `SELECT json_build_object('id', b.id, 'per', b.per, 'subject', b.subject, 'millionths', b.millionths, 'tokens', b.tokens, 'window', b."window", 'timeZone', b.time_zone, 'warnAt', b.warn_at, 'action', b.action,
      'createdBy', b.created_by, 'createdByKind', b.created_by_kind, 'createdAt', b.created_at, 'revokedAt', b.revoked_at, 'revokedBy', b.revoked_by, 'revokedByKind', b.revoked_by_kind) AS budget
    FROM budget b WHERE b.tenant = $1 AND ($2 OR b.revoked_at IS NULL) ORDER BY b.created_at, b.id`,
};

/** The budgets that administrators have set, the oldest first. */
export async function readBudgets(sql: Sql, tenant: string, withRevoked: boolean): Promise<readonly Budget[]> {
  const rows = await sql.query(READ, [tenant, withRevoked]);
  return rows.flatMap(({ budget }) => budgetOf(budget) ?? []);
}

/** Null for a row with a value of a newer version. */
function budgetOf({ per, subject, window, action, ...row }: Row): Budget | null {
  const known = {
    per: BUDGET_PERS.find((each): each is BudgetPer => each === per),
    window: BUDGET_WINDOWS.find((each): each is BudgetWindow => each === window),
    action: BUDGET_ACTIONS.find((each): each is BudgetAction => each === action),
  };
  if (known.per === undefined || known.window === undefined || known.action === undefined) return null;
  const { id, millionths, tokens, timeZone, warnAt, createdBy, createdByKind, createdAt } = row;
  const { revokedAt, revokedBy, revokedByKind } = row;
  const revoked =
    revokedAt === null || revokedBy === null || revokedByKind === null
      ? null
      : { by: { id: revokedBy, kind: revokedByKind }, at: new Date(revokedAt).toISOString() };
  return {
    id,
    per: known.per,
    templateId: null,
    subject: subject === "" ? null : subject,
    millionths,
    tokens,
    window: known.window,
    timeZone,
    warnAt,
    action: known.action,
    origin: {
      kind: "ACTOR",
      setBy: { id: createdBy, kind: createdByKind },
      setAt: new Date(createdAt).toISOString(),
      revoked,
    },
  };
}
