import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  stepPage,
  stepTotal,
  turnPage,
  turnTotal,
  type StepAuditFilter,
  type TurnAuditFilter,
  type TurnKey,
  type TurnOrder,
} from "../../../../src/agent/calls/audit/turn-page.ts";
import type { AuditStep, AuditTurn } from "../../../../src/db/generated/client.ts";
import type { Sql } from "../../../../src/db/sql.ts";
import { foldAll } from "../../../support/audit.ts";
import { testDatabase } from "../../../support/database.ts";
import { expectedRows } from "../../../support/true-turns.ts";
import { at, MODELS, TurnOffice, type Deed } from "../../../support/turn-office.ts";

/** A turn as most are; a deed that does not fit does nothing. */
const CHAIN = [
  "message",
  "step",
  "step",
  "answer",
  "call",
  "text",
  "call",
  "close",
  "step",
  "message",
  "answer",
  "call",
  "close",
  "fork",
  "done",
] as const;

/** The lives of some agents, in an order that chances, with folds between. */
const DEEDS: fc.Arbitrary<readonly Deed[]> = fc
  .record({
    whiches: fc.array(fc.nat(999), { minLength: 120, maxLength: 120 }),
    turns: fc.array(fc.record({ agent: fc.nat(3), isRetried: fc.boolean() }), { minLength: 4, maxLength: 6 }),
    picks: fc.array(fc.nat(5), { minLength: 120, maxLength: 120 }),
  })
  .map(({ whiches, turns, picks }) => {
    const lives = [...Map.groupBy(turns, ({ agent }) => agent)].map(([agent, own]) =>
      own.flatMap(({ isRetried }) =>
        [...CHAIN, ...(isRetried ? (["retry"] as const) : [])].map((what, index) => ({
          what,
          agent,
          which: whiches[index + 20 * agent] ?? 0,
        })),
      ),
    );
    return picks.flatMap((pick, index): Deed[] => {
      const which = whiches[index] ?? 0;
      if (pick === 5) return which % 2 === 0 ? [{ what: "fold", servers: 1 + (which % 3), isCut: which % 4 === 0 }] : [];
      const life = lives[pick % lives.length] ?? [];
      const [next] = life.splice(0, which % 9 === 0 ? 2 : 1);
      return next === undefined || (next.what === "fork" && which % 3 > 0) ? [] : [next];
    });
  });

const SHARED = {
  tenant: "one",
  visible: null,
  from: null,
  to: null,
  agentIds: null,
  rootIds: null,
  templateIds: null,
  models: null,
  requestedBy: null,
  isUnpriced: null,
  errorTypes: null,
};
const STEPS: StepAuditFilter = { ...SHARED, states: null, stopReasons: null };
const TURNS: TurnAuditFilter = { ...SHARED, reasons: null, isOpen: null };
const SHARED_FILTERS: readonly Partial<typeof TURNS & typeof STEPS>[] = [
  {},
  { tenant: "two" },
  { tenant: "three" },
  { visible: ["creator-0"] },
  { visible: [] },
  { from: at(10), to: at(25) },
  { templateIds: ["template-1"], models: ["small"] },
  { requestedBy: ["person-1", "creator-0"] },
  { isUnpriced: true },
  { errorTypes: ["overloaded"] },
  { isUnpriced: false, models: [...MODELS] },
];
const ORDERS: readonly TurnOrder[] = (["started_at", "duration_ms", "cost_usd"] as const).flatMap((column) =>
  (["asc", "desc"] as const).map((direction) => ({ column, direction })),
);

const ALL_OF_THEM = {
  order: { column: "started_at", direction: "asc" },
  after: null,
  before: null,
  isBackwards: false,
  most: 1_000,
} as const;

type Row = AuditStep | AuditTurn;

function isUnpriced(row: Row): boolean {
  return "unpriced" in row ? row.unpriced > 0 : row.inputTokens !== null && row.costUsd === null;
}

function isAsked(filter: StepAuditFilter | TurnAuditFilter, row: Row): boolean {
  const among = (values: readonly string[] | null, value: string | null): boolean =>
    values === null || (value !== null && values.includes(value));
  const own =
    "states" in filter
      ? "state" in row && among(filter.states, row.state)
      : "reason" in row &&
        among(filter.reasons, row.reason) &&
        (filter.isOpen ?? row.endedAt === null) === (row.endedAt === null);
  return (
    own &&
    row.tenant === filter.tenant &&
    among(filter.visible, row.createdBy) &&
    among(filter.agentIds, row.agentId) &&
    among(filter.rootIds, row.rootId) &&
    among(filter.templateIds, row.templateId) &&
    among(filter.models, row.model) &&
    among(filter.requestedBy, row.requestedBy) &&
    among(filter.errorTypes, row.errorType) &&
    (filter.from === null || row.startedAt >= filter.from) &&
    (filter.to === null || row.startedAt < filter.to) &&
    (filter.isUnpriced === null || isUnpriced(row) === filter.isUnpriced)
  );
}

const numberOf = (row: Row): number => ("steps" in row ? row.turn : row.step);

function keyOf(row: Row, { column }: TurnOrder): TurnKey {
  const by = column === "started_at" ? row.startedAt.toISOString() : column === "duration_ms" ? row.durationMs : row.costUsd;
  return { by, agentId: row.agentId, number: numberOf(row) };
}

function sorted<Of extends Row>(rows: readonly Of[], order: TurnOrder): readonly Of[] {
  const sign = order.direction === "asc" ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [keyOf(one, order), keyOf(other, order)];
    if (a.by !== b.by) {
      if (a.by === null || b.by === null) return a.by === null ? 1 : -1;
      return (a.by < b.by ? -1 : 1) * sign;
    }
    if (a.agentId !== b.agentId) return (a.agentId < b.agentId ? -1 : 1) * sign;
    return (a.number - b.number) * sign;
  });
}

/** The whole list, page by page, from one of its ends. */
async function walk<Of extends Row>(
  page: (part: Parameters<typeof stepPage>[2]) => Promise<Of[]>,
  order: TurnOrder,
  isBackwards: boolean,
): Promise<readonly Of[]> {
  const found: Of[] = [];
  for (let place: TurnKey | null = null; ;) {
    const rows: Of[] = await page({
      order,
      after: isBackwards ? null : place,
      before: isBackwards ? place : null,
      isBackwards,
      most: 3,
    });
    found.push(...rows);
    const last = rows.at(-1);
    if (last === undefined) return isBackwards ? found.toReversed() : found;
    place = keyOf(last, order);
  }
}

const plain = (rows: readonly Row[]): readonly object[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== "isFound")));

/** The facts that the log alone says: they may be lost with its events. */
const OF_LOG = new Set(["isFound", "reason", "endedAt", "durationMs", "firstTokenMs", "requestedBy", "requesters", "waitingMs"]);
const kept = (rows: readonly object[]): readonly object[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !OF_LOG.has(name))));

async function compare(sql: Sql, office: TurnOffice, round: number): Promise<void> {
  const { steps, turns } = expectedRows(office);
  const order = ORDERS[round % ORDERS.length] ?? { column: "started_at", direction: "asc" };
  const shared = SHARED_FILTERS[round % SHARED_FILTERS.length] ?? {};
  const agent = office.agents[round % office.agents.length]?.id ?? "";
  const stepFilters = [STEPS, { ...STEPS, ...shared }, { ...STEPS, states: ["ABORTED" as const], agentIds: [agent] }];
  const turnFilters = [
    TURNS,
    { ...TURNS, ...shared },
    { ...TURNS, rootIds: [agent], isOpen: round % 2 === 0 },
    { ...TURNS, reasons: ["ERROR" as const] },
  ];
  const isBackwards = round % 2 === 0;
  for (const filter of stepFilters) {
    const wanted = sorted(
      steps.filter((row) => isAsked(filter, row)),
      order,
    );
    expect(plain(await walk((part) => stepPage(sql, filter, part), order, isBackwards))).toEqual(wanted);
    expect(await stepTotal(sql, filter, 3)).toBe(Math.min(wanted.length, 3));
  }
  for (const filter of turnFilters) {
    const wanted = sorted(
      turns.filter((row) => isAsked(filter, row)),
      order,
    );
    expect(plain(await walk((part) => turnPage(sql, filter, part), order, isBackwards))).toEqual(wanted);
    expect(await turnTotal(sql, filter, 1_000)).toBe(wanted.length);
  }
}

describe("the audit of steps and turns beside the log", () => {
  it(
    "lists them as they were committed, in each order and from both ends, whatever servers fold or end meanwhile",
    { timeout: 240_000 },
    async () => {
      const { sql } = await testDatabase();
      const seen = { ended: 0, waited: 0, retried: 0, unpriced: 0 };
      await fc.assert(
        fc.asyncProperty(DEEDS, async (deeds) => {
          const office = new TurnOffice(sql);
          await office.open();
          for (const [index, deed] of deeds.entries()) {
            await office.act(deed);
            if (index % 12 === 11) await compare(sql, office, index + deeds.length);
          }
          await foldAll(sql);
          await compare(sql, office, deeds.length);
          const { turns } = expectedRows(office);
          seen.ended += turns.filter(({ endedAt }) => endedAt !== null).length;
          seen.waited += turns.filter(({ waitingMs }) => waitingMs > 0).length;
          seen.unpriced += turns.filter(({ unpriced }) => unpriced > 0).length;
          seen.retried += office.turns.filter(({ agent, turn, messages: [first] }) =>
            office.turns.some(
              (other) => other.agent === agent && other.turn === turn + 1 && other.messages[0] === first && first !== undefined,
            ),
          ).length;
        }),
        { numRuns: 15 },
      );
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
    },
  );

  it("keeps who asked for a turn when a retry takes its messages, whether it was folded before or not", async () => {
    const { sql } = await testDatabase();
    for (const isFolded of [true, false]) {
      const office = new TurnOffice(sql);
      await office.open();
      const act = async (what: "message" | "step" | "answer" | "done" | "retry", which = 1) =>
        office.act({ what, agent: 0, which });
      const fold = async () => office.act({ what: "fold", servers: 1, isCut: false });
      await act("message");
      for (const what of ["step", "step", "answer", "done"] as const) await act(what);
      if (isFolded) await fold();
      await act("retry");
      await act("message", 2);
      for (const what of ["step", "step", "answer", "done"] as const) await act(what);
      await fold();
      const rows = await turnPage(sql, TURNS, ALL_OF_THEM);
      expect(rows.map(({ turn, requesters, requestedBy }) => [turn, requestedBy, requesters])).toEqual([
        [1, "person-1", ["USER:person-1"]],
        [2, "person-1", ["USER:person-1", "USER:person-2"]],
      ]);
    }
  });

  it("gives no negative time if a server whose clock is behind ends a step and its turn", async () => {
    const { sql } = await testDatabase();
    const office = new TurnOffice(sql);
    await office.open();
    const act = async (what: "message" | "step" | "answer" | "call" | "close" | "done") =>
      office.act({ what, agent: 0, which: 1 });
    for (const what of ["message", "step", "step"] as const) await act(what);
    office.setBack(100);
    await act("answer");
    office.setBack(-40);
    await act("call");
    office.setBack(20);
    for (const what of ["close", "done"] as const) await act(what);
    expect((await stepPage(sql, STEPS, ALL_OF_THEM)).map(({ durationMs }) => durationMs)).toEqual([0]);
    expect(await turnPage(sql, TURNS, ALL_OF_THEM)).toMatchObject([{ durationMs: 0, waitingMs: 0, reason: "INTERRUPTED" }]);
  });

  it("begins anew after retention removed events that it had not seen, and keeps the counts of steps and turns", async () => {
    const { sql } = await testDatabase();
    const office = new TurnOffice(sql);
    await office.open();
    const life = ["message", "step", "step", "answer", "call", "close", "done"] as const;
    const live = async (): Promise<void> => {
      for (const agent of [0, 1, 2]) for (const what of life) await office.act({ what, agent, which: agent + 1 });
    };
    await live();
    await office.act({ what: "fold", servers: 1, isCut: true });
    await live();
    await office.act({ what: "retention" });
    for (const isFolded of [false, true]) {
      if (isFolded) await foldAll(sql);
      for (const tenant of ["one", "two"]) {
        const ofTenant = ({ tenant: own }: Row): boolean => own === tenant;
        const { steps, turns } = expectedRows(office);
        const order = ALL_OF_THEM.order;
        const found = await stepPage(sql, { ...STEPS, tenant }, ALL_OF_THEM);
        expect(kept(found)).toEqual(kept(sorted(steps.filter(ofTenant), order)));
        const rows = await turnPage(sql, { ...TURNS, tenant }, ALL_OF_THEM);
        expect(kept(rows)).toEqual(kept(sorted(turns.filter(ofTenant), order)));
        expect(rows.every(({ endedAt, reason }) => endedAt !== null && (reason !== null || rows.length > 1))).toBe(true);
      }
    }
    await live();
    await foldAll(sql);
    const rows = await turnPage(sql, TURNS, ALL_OF_THEM);
    expect(rows.filter(({ turn }) => turn === 3).map(({ reason, calls, waitingMs }) => [reason, calls, waitingMs])).toEqual([
      ["INTERRUPTED", 1, 1_000],
      ["ERROR", 1, 1_000],
    ]);
  });
});
