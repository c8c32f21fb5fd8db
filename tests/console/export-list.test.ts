import { expect, it } from "vitest";
import { withPage, type ExportRow, type Known } from "../../console/src/audit/exports/export-list.ts";

const row = (id: string, part: Partial<ExportRow> = {}): ExportRow => ({
  id,
  what: "EVENTS",
  format: "CSV",
  withTexts: false,
  state: "DONE",
  rows: 1,
  bytes: 10,
  problem: null,
  viewerUrl: null,
  createdAt: "2026-11-30T12:00:00Z",
  endedAt: null,
  expiresAt: null,
  createdBy: { id: "ada", actorId: "ada", name: null, kind: "USER" },
  ...part,
});
const page = (endCursor: string | null, ...nodes: readonly ExportRow[]) => ({
  nodes,
  totalCount: 5,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});
const NONE: Known = { rows: [], total: null, problem: "lost", after: null };
const idsOf = ({ rows }: Known): string => rows.map(({ id }) => id).join(" ");

it("the list of exports keeps its older rows while the newest are read again", () => {
  const first = withPage(NONE, null, page("2", row("e", { state: "RUNNING" }), row("d")));
  const all = withPage(withPage(first, "2", page(null, row("c"), row("b"))), null, page("2", row("f"), row("e")));
  expect(idsOf(all)).toBe("f e d c b");
  expect(all).toMatchObject({ total: 5, problem: null, after: null });
  expect(all.rows[1]?.state).toBe("DONE");
});

it("a page that was read twice is there once, and a list of one page has no other rows", () => {
  const first = withPage(NONE, null, page("1", row("b")));
  const twice = withPage(withPage(first, "1", page(null, row("a"))), "1", page(null, row("a")));
  expect(idsOf(twice)).toBe("b a");
  expect(idsOf(withPage(twice, null, page(null, row("b"))))).toBe("b");
});
