import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { notice } from "../../src/agent/calls/notices.ts";
import type { OwnerChange } from "../../src/db/commit/change.ts";
import {
  encodeChange,
  isComposable,
  joinChanges,
  OUTSIDE_PARTS,
  OWNER_PARTS,
  TENANT_PARTS,
  type Part,
} from "../../src/db/commit/parts.ts";

/** The parts that a SQL function reads from its change, each with its type. */
function recordOf(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(new URL(`../../src/db/functions/${name}.sql`, import.meta.url), "utf8");
  const [, list = ""] = /json_to_record\(p_change\) AS c\(([^;]*)\);/.exec(text) ?? [];
  return Object.fromEntries([...list.matchAll(/"?(\w+)"? (\w+)/g)].map(([, part = "", type = ""]) => [part, type]));
}

const typesOf = (parts: Readonly<Record<string, Part>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(parts).map(([name, { sql }]) => [name, sql]));

const noticeOf = (ref: string, text: string): NonNullable<OwnerChange["notices"]>[number] =>
  notice({ id: "agent", tenant: "one" }, { source: "FILE", ref, text }, new Date(0));

describe("the parts of a change", () => {
  it("are those that the SQL functions read, with their types", () => {
    expect(recordOf("commit_change")).toEqual(typesOf({ ...OWNER_PARTS, ...OUTSIDE_PARTS }));
    expect(recordOf("commit_tenant_change")).toEqual(typesOf(TENANT_PARTS));
  });

  it("that write rows are given to them by column names, and all others as they are", () => {
    const change: OwnerChange = {
      agent: { stepCount: 1 },
      interruptEnd: { seen: null },
      transitions: [
        {
          id: "call",
          from: "PENDING",
          set: { state: "EXECUTING", updatedAt: new Date(0), startedAt: new Date(0) },
          audit: { state: "EXECUTING", timestamp: "now" },
        },
      ],
    };
    const encoded: unknown = JSON.parse(encodeChange(change));
    expect(encoded).toMatchObject({
      agent: { step_count: 1 },
      interruptEnd: { seen: null },
      transitions: [{ id: "call", from: "PENDING", set: { state: "EXECUTING", started_at: expect.any(String) } }],
    });
    expect(() => encodeChange({ ...change, forgotten: 1 } as OwnerChange)).toThrow("a change has no part forgotten");
  });

  it("of two changes become one: lists follow each other, the last word counts, and no part is lost", () => {
    const change = (path: string): OwnerChange => ({
      agent: { breakpoint: "PRE_MODEL" },
      fileChanges: [{ path, callId: "call", change: "CHANGED" }],
      noticesTold: { step: 1, ids: [path] },
      noticesDropped: [{ source: "FILE", ref: path }],
      notices: [noticeOf("own", path), noticeOf(path, path)],
    });
    const joined = joinChanges([change("a"), { agent: { stepCount: 2 } }, change("b")]);
    expect(joined.agent).toEqual({ breakpoint: "PRE_MODEL", stepCount: 2 });
    expect(joined.fileChanges?.map(({ path }) => path)).toEqual(["a", "b"]);
    expect(joined.noticesTold).toEqual({ step: 1, ids: ["a", "b"] });
    expect(joined.noticesDropped?.map(({ ref }) => ref)).toEqual(["a", "b"]);
    // Of two notices of one thing, the newer one is written.
    expect(joined.notices?.map(({ ref, text }) => [ref, text])).toEqual([
      ["own", "b"],
      ["a", "a"],
      ["b", "b"],
    ]);
    expect(joinChanges([])).toEqual({});
  });

  it("that depend on what others commit are left to `commit_change`", () => {
    expect(isComposable({ agent: { stepCount: 1 }, messages: [], approvals: [] })).toBe(true);
    expect(isComposable({ toldNote: "stop" })).toBe(false);
    expect(isComposable({ agent: { turn: 2 } })).toBe(false);
    expect(isComposable({ interruptEnd: { seen: "2026-01-01T00:00:00.000Z" } })).toBe(false);
    expect(isComposable({ noticesTold: { step: 1, ids: ["a"] } })).toBe(false);
    expect(isComposable({ notices: [noticeOf("a", "a")] })).toBe(false);
    expect(isComposable({ notices: [], noticesDropped: [] })).toBe(true);
  });
});
