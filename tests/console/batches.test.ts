import { describe, expect, it } from "vitest";
import { BATCH, batchRows, entriesOf, isBatchId } from "../../console/src/inbox/batches/entries.ts";
import { longRows, withLongInput } from "../../console/src/inbox/batches/long-inputs.ts";
import { compared, shapeOf } from "../../console/src/inbox/batches/shape.ts";
import type { Row } from "../../console/src/inbox/queue.ts";

function row(id: string, input: object | string, part: Partial<Row> = {}): Row {
  return {
    id,
    shortId: id,
    kind: "TOOL_CALL",
    risk: "MEDIUM",
    state: "PENDING",
    requestedAt: "2026-11-30T12:00:00Z",
    expiresAt: null,
    quorum: 1,
    missingDecisions: 1,
    inputHash: `hash of ${id}`,
    hasEditedInput: false,
    meta: null,
    agent: {
      id: "agent-1",
      shortId: "agent-1",
      title: null,
      workspace: "/srv/test",
      template: { id: "t", templateId: "engineer" },
    },
    requestedBy: [],
    toolCall: {
      id: "call",
      name: "bash_run",
      inputPreview: typeof input === "string" ? input : JSON.stringify(input),
      explanation: { rule: "ask bash_run", place: "templates.engineer.permission.ask.0" },
    },
    subject: null,
    ...part,
  };
}

const command = (id: string, text: string): Row => row(id, { command: text });
const areAlike = (...rows: readonly Row[]): boolean =>
  new Set(rows.map(shapeOf)).size === 1 && rows.every((each) => shapeOf(each) !== null);

describe("alike questions", () => {
  it("have the same programs, switches, folders and hosts; names of files may differ", () => {
    expect(areAlike(command("a", "rm -f out/a.o"), command("b", "rm -f out/b.o"))).toBe(true);
    for (const other of ["rm -rf out/a.o", "rm -f src/a.o", "mv -f out/a.o", "rm -f out/a.o && ls", "sudo rm -f out/a.o"])
      expect(areAlike(command("a", "rm -f out/a.o"), command("b", other)), other).toBe(false);
    expect(areAlike(command("a", "git push origin"), command("b", "git pull origin"))).toBe(false);
    const at = (url: string): Row => row("a", { url });
    expect(areAlike(at("https://a.example/1"), at("https://a.example/2"))).toBe(true);
    expect(areAlike(at("https://a.example/1"), at("https://a.example.evil/1"))).toBe(false);
    expect(areAlike(row("a", { path: "docs/a", force: false }), row("b", { path: "docs/b", force: true }))).toBe(false);
    expect(areAlike(row("a", { path: "docs/a" }), row("b", { path: "docs/../etc/b" }))).toBe(false);
  });

  it("have the same program where another one runs it, and the same words where one may be a program", () => {
    for (const [one, other] of [
      ["timeout 10 cat a.o", "timeout 10 rm a.o"],
      ["sudo -u root ls a.o", "sudo -u root rm a.o"],
      ["sudo -u root ./check.sh", "sudo -u root ./remove.sh"],
      ["env CC=gcc ./check.sh", "env CC=gcc ./remove.sh"],
      ["git -C lib.d status", "git -C lib.d push"],
      ["kubectl -n prod get a.yaml", "kubectl -n prod delete a.yaml"],
      ["aws s3 ls a.txt", "aws ec2 ls a.txt"],
      ["docker exec web.1 ls a.txt", "docker exec web.1 rm a.txt"],
      ["ls | timeout 9 ./a.sh", "ls | timeout 9 ./b.sh"],
    ] as const)
      expect(areAlike(command("a", one), command("b", other)), other).toBe(false);
  });

  it("are of one folder: the same words do something else in another one", () => {
    const one = command("a", "rm -rf build");
    expect(areAlike(one, { ...one, id: "b" })).toBe(true);
    expect(areAlike(one, { ...one, agent: { ...one.agent, workspace: "/srv/production" } })).toBe(false);
  });

  it("are never put together if a part is hidden: substitutions, quotes, line ends, and inputs that are cut", () => {
    for (const hidden of ["rm $(cat list)", "rm 'a b'", "rm a\nrm b", "rm *"])
      expect(areAlike(command("a", hidden), command("b", `${hidden} `)), hidden).toBe(false);
    expect(shapeOf(row("a", '{"command":"rm a…'))).toBeNull();
  });

  it("are no unknown outcomes, hosts, edited inputs, or calls with words of a hook", () => {
    const input = { command: "rm a.o" };
    for (const part of [
      { kind: "OUTCOME_UNKNOWN" },
      { kind: "NETWORK_HOST", toolCall: null },
      { hasEditedInput: true },
      { meta: { warning: "careful" } },
      { inputHash: null },
    ] as const)
      expect(shapeOf(row("a", input, part)), JSON.stringify(part)).toBeNull();
  });

  it("have one rule, risk, template and tool", () => {
    const one = command("a", "rm a.o");
    const toolCall = (part: object): Partial<Row> => (one.toolCall === null ? {} : { toolCall: { ...one.toolCall, ...part } });
    for (const part of [
      { risk: "HIGH" as const },
      { quorum: 2 },
      toolCall({ name: "bash_start" }),
      toolCall({ explanation: { rule: "ask all", place: "templates.engineer.permission.ask.1" } }),
      { agent: { ...one.agent, template: { id: "o", templateId: "other" } } },
    ])
      expect(areAlike(one, { ...one, ...part }), JSON.stringify(part)).toBe(false);
  });
});

describe("the lines of the inbox", () => {
  it("put three or more alike where the first of them stands, and show them below it when it is open", () => {
    const rows = [
      command("1", "ls x.c"),
      command("2", "rm a.o"),
      command("3", "rm b.o"),
      command("4", "ls y.c"),
      command("5", "rm c.o"),
    ];
    const closed = entriesOf(rows, new Set());
    expect(closed.map(({ id }) => (isBatchId(id) ? "batch" : id))).toEqual(["1", "batch", "4"]);
    const id = closed[1]?.id ?? "";
    expect(batchRows(closed, id).map((each) => each.id)).toEqual(["2", "3", "5"]);
    expect(entriesOf(rows, new Set([id])).map((entry) => (isBatchId(entry.id) ? "batch" : entry.id))).toEqual([
      "1",
      "batch",
      "2",
      "3",
      "5",
      "4",
    ]);
    expect(batchRows(closed, "batch-none")).toEqual([]);
  });

  it("have at most 50 in a batch; the rest is another one", () => {
    const rows = Array.from({ length: 2 * BATCH.most + 2 }, (_, index) => command(`${index}`, `rm ${index}.o`));
    const entries = entriesOf(rows, new Set());
    expect(entries.map((entry) => (entry.kind === "batch" ? entry.rows.length : 1))).toEqual([50, 50, 1, 1]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(4);
  });
});

describe("the comparison of alike inputs", () => {
  it("gives the common beginning and end of each parameter, and the parts that differ, whole names", () => {
    expect(
      compared([
        { command: "rm -f out/ab.o now", n: 1 },
        { command: "rm -f out/ac.o now", n: 1 },
      ]),
    ).toEqual([
      { name: "command", before: "rm -f out/", after: "now", parts: ["ab.o ", "ac.o "] },
      { name: "n", before: "1", after: "", parts: null },
    ]);
    expect(compared([{ path: "a" }, { path: "a/b" }])).toEqual([{ name: "path", before: "", after: "", parts: ["a", "a/b"] }]);
    expect(compared([{ path: "x x" }, { path: "x x x" }])).toEqual([
      { name: "path", before: "x ", after: "x", parts: ["", "x "] },
    ]);
  });
});

describe("longer inputs", () => {
  const long = (id: string, part: Partial<Row> = {}): Row => row(id, `{"command":"ls ${"x".repeat(180)}…`, part);
  const whole = `{"command":"ls ${"x".repeat(300)}"}`;

  it("are read of questions that may be alike, not of others, each once and in bounds", () => {
    const alone = long("edited", { hasEditedInput: true });
    const rows = [long("a"), command("b", "ls"), long("c"), alone];
    expect(longRows(rows, new Set()).map(({ id }) => id)).toEqual(["a", "c"]);
    expect(longRows(rows, new Set(["a", "c"]))).toEqual([]);
    expect(longRows([long("a"), long("b"), alone], new Set())).toEqual([]);
    const many = Array.from({ length: 700 }, (_, index) => long(String(index)));
    expect(longRows(many, new Set())).toHaveLength(50);
    expect(longRows(many, new Set(many.slice(0, 480).map(({ id }) => id)))).toHaveLength(20);
    expect(longRows(many, new Set(many.slice(0, 500).map(({ id }) => id)))).toEqual([]);
  });

  it("are compared whole, and only if they are those of the question", () => {
    const given = long("a");
    const read = withLongInput(given, "hash of a", whole);
    expect(read?.toolCall?.inputPreview).toBe(whole);
    expect(withLongInput(given, "hash of another", whole)).toBe(null);
    expect(withLongInput(given, null, null)).toBe(null);
    expect(withLongInput(given, "hash of a", `${whole.slice(0, 250)}…`)).toBe(null);
  });
});
