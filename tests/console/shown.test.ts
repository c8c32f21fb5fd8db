import { describe, expect, it } from "vitest";
import { agentFilters, merged, type AgentRow } from "../../console/src/agents/roster.ts";
import { diffLines, diffSize } from "../../console/src/calls/diff-lines.ts";
import { bytesText, percent } from "../../console/src/design/amounts.ts";
import { durationText, relativeText, zonedText } from "../../console/src/design/time.ts";
import { readableJson, visibleLines } from "../../console/src/design/visible-lines.ts";

describe("a diff", () => {
  const lines = diffLines(
    "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n@@ -10 +10,2 @@\n ten\n+--- eleven\n",
  );

  it("has the numbers of the old and the new file", () => {
    expect(lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ["place", null, null],
      ["context", 1, 1],
      ["removed", 2, null],
      ["added", null, 2],
      ["context", 3, 3],
      ["note", null, null],
      ["place", null, null],
      ["context", 10, 10],
      ["added", null, 11],
    ]);
  });

  it("counts its lines, and takes no line of a file for its head", () => {
    expect(diffSize(lines)).toEqual({ added: 2, removed: 1 });
    expect(lines.at(-1)?.text).toBe("--- eleven");
  });
});

describe("texts of many lines", () => {
  it("keep their indentation, and hide nothing", () => {
    expect(visibleLines("if a:\n        b\n\tc")).toBe("if a:\n        b\n\tc");
    expect(visibleLines("a     b\u202e\r")).toBe("a\\u0020\\u0020\\u0020\\u0020\\u0020b\\u202e\\u000d");
    expect(visibleLines(`${" ".repeat(44)}b`)).toBe(`${" ".repeat(40)}${"\\u0020".repeat(4)}b`);
  });

  it("stand in JSON with their line feeds, and a backslash before an n is none", () => {
    expect(readableJson({ text: "a\nb", path: "C:\\new" })).toBe('{\n  "text": "a\nb",\n  "path": "C:\\\\new"\n}');
    expect(readableJson(undefined)).toBe("");
  });
});

describe("times and amounts", () => {
  it("are relative in the greatest whole unit, and have a zone in full", () => {
    const now = Date.parse("2026-11-30T12:00:00Z");
    expect(relativeText("2026-11-30T11:57:10Z", now, "en")).toBe("2 min. ago");
    expect(relativeText("2026-11-30T14:30:00Z", now, "en")).toBe("in 2 hr.");
    expect(zonedText("2026-11-30T12:00:00Z", "en")).toMatch(/UTC|GMT|[A-Z]{3,4}/);
  });

  it("are short", () => {
    expect([durationText(420), durationText(3_210), durationText(250_000)]).toEqual(["420 ms", "3.2 s", "4 min 10 s"]);
    expect([bytesText(1), bytesText(1_536), bytesText(50 * 1_024 * 1_024)]).toEqual(["1 B", "1.5 KB", "50.0 MB"]);
    expect([percent(1, 3), percent(5, 0), percent(9, 3)]).toEqual([33, 0, 100]);
  });
});

describe("the list of agents", () => {
  function agent(id: string, lastActivityAt: string, part: Partial<AgentRow> = {}): AgentRow {
    return {
      id,
      shortId: id,
      title: null,
      state: "READY",
      breakpoint: "READY",
      waitingFor: null,
      awaited: [],
      childCount: 0,
      doneReason: null,
      depth: 0,
      createdAt: lastActivityAt,
      lastActivityAt,
      archivedAt: null,
      model: "m",
      workspace: "/w",
      template: { id: "t", templateId: "engineer" },
      createdBy: { id: "a", actorId: "local", name: null, kind: "USER" },
      treeUsage: { costUsd: null, totalTokens: 0 },
      ...part,
    };
  }

  it("takes changed agents in, the latest first, and leaves out those that pass no longer", () => {
    const rows = [agent("b", "2026-02"), agent("a", "2026-01")];
    const filters = agentFilters({ state: "READY" });
    const news = [agent("a", "2026-03"), agent("b", "2026-04", { state: "WORKING" }), agent("child", "2026-05", { depth: 1 })];
    expect(merged(rows, news, filters).map(({ id }) => id)).toEqual(["a"]);
  });

  it("ignores filters of the address that are none", () => {
    expect(agentFilters({ state: "SLEEPING", template: "engineer", archived: "no" })).toEqual({
      template: "engineer",
      isArchived: false,
    });
  });
});
