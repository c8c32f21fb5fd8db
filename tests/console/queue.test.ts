import { describe, expect, it } from "vitest";
import { choicesOf, neighbour, ordered, urgency, type Row } from "../../console/src/inbox/queue.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const minutes = (count: number): string => new Date(NOW + count * 60_000).toISOString();

function row(id: string, part: Partial<Row> = {}): Row {
  return {
    id,
    shortId: id,
    kind: "TOOL_CALL",
    risk: "MEDIUM",
    state: "PENDING",
    requestedAt: minutes(-10),
    expiresAt: null,
    quorum: 1,
    missingDecisions: 1,
    agent: { id: "agent-1", shortId: "agent-1", title: null, workspace: "/work", template: { id: "t", templateId: "engineer" } },
    requestedBy: [{ id: "a", actorId: "petra", name: "Petra", kind: "USER" }],
    inputHash: "hash",
    hasEditedInput: false,
    meta: null,
    toolCall: { id: "call", name: "fs_write", inputPreview: "{}", explanation: null },
    subject: {},
    ...part,
  };
}

describe("the order of the inbox", () => {
  it("puts risk before waiting, and what expires soon before both", () => {
    const rows = [
      row("old", { requestedAt: minutes(-600) }),
      row("risky", { risk: "HIGH" }),
      row("expiring", { requestedAt: minutes(-30), expiresAt: minutes(2) }),
      row("new", { requestedAt: minutes(-1) }),
    ];
    expect(ordered(rows, {}, NOW).map(({ id }) => id)).toEqual(["expiring", "risky", "old", "new"]);
  });

  it("grows with time for the same question", () => {
    const asked = row("a");
    expect(urgency(asked, NOW + 3_600_000)).toBeGreaterThan(urgency(asked, NOW));
  });

  it("keeps equal ones in the order in which they were asked", () => {
    const rows = [row("b", { requestedAt: minutes(-9) }), row("a", { requestedAt: minutes(-9.0001) })];
    expect(ordered(rows, {}, NOW).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("filters", () => {
  const shell = row("shell", { toolCall: { id: "c", name: "bash_run", inputPreview: null, explanation: null } });
  const host = row("host", { kind: "NETWORK_HOST", toolCall: null, subject: { host: "example.org", port: 443 } });

  it("let rows of all given values pass", () => {
    const rows = [row("file"), shell, host];
    expect(ordered(rows, { tool: "bash_run", requester: "petra" }, NOW)).toEqual([shell]);
    expect(ordered(rows, { tool: "network_host" }, NOW)).toEqual([host]);
    expect(ordered(rows, { requester: "somebody else" }, NOW)).toEqual([]);
  });

  it("offer the values of the rows with their counts, the most frequent first", () => {
    expect(choicesOf([row("1"), row("2"), shell], "tool")).toEqual([
      { value: "fs_write", label: "fs_write", count: 2 },
      { value: "bash_run", label: "bash_run", count: 1 },
    ]);
  });
});

describe("the row after this one", () => {
  const rows = [row("a"), row("b"), row("c")];

  it("is the next or the previous, and none beyond the ends", () => {
    expect(neighbour(rows, "b", 1)?.id).toBe("c");
    expect(neighbour(rows, "b", -1)?.id).toBe("a");
    expect(neighbour(rows, "c", 1)).toBeUndefined();
  });

  it("is the first if this one has left the list", () => {
    expect(neighbour(rows, "gone", 1)?.id).toBe("a");
  });
});

describe("the search of the inbox", () => {
  const rows = [
    row("approval-1", {
      shortId: "0a1b2c3d",
      toolCall: { id: "c", name: "bash_run", inputPreview: '{"command":"make BUILD"}', explanation: null },
    }),
    row("approval-2", { toolCall: null, subject: { host: "a.example", port: 443 }, kind: "NETWORK_HOST" }),
  ];
  const found = (find: string): readonly string[] => ordered(rows, { find }, NOW).map(({ id }) => id);

  it("finds short ids, tools, people, hosts and words of the action; all words must be there", () => {
    expect(found("0a1b2c3d")).toEqual(["approval-1"]);
    expect(found("#2C3D")).toEqual(["approval-1"]);
    expect(found("bash build")).toEqual(["approval-1"]);
    expect(found("bash deploy")).toEqual([]);
    expect(found("A.example:443")).toEqual(["approval-2"]);
    expect(found("petra engineer")).toHaveLength(2);
    // Characters of patterns are characters.
    expect(found(".*")).toEqual([]);
  });
});
