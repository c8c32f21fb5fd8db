import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { everything, insertAgent } from "../support/log.ts";
import { runFile } from "../support/process.ts";

/** The transactions of each connection of a writer. */
const TRANSACTIONS = 100;
const WRITERS = 2;

/** Follows by polling while writer processes race, and compares what was delivered with what was committed. */
async function race(design: "log" | "sequence"): Promise<{ delivered: string[]; committed: string[] }> {
  const { sql, url } = await testDatabase();
  const log = new EventLog(sql);
  await log.begin("race");
  const agents = await Promise.all(Array.from({ length: 5 }, () => insertAgent(log, "race")));
  await sql.query({ name: "s", text: "CREATE TABLE scratch (note text)" }, []);
  await sql.query(
    { name: "n", text: "CREATE TABLE naive_event (position bigserial PRIMARY KEY, event_id uuid, agent_id text)" },
    [],
  );
  const committedSql =
    design === "log"
      ? "SELECT e.position::text AS position FROM event e WHERE e.tenant = 'race' ORDER BY e.position"
      : "SELECT e.position::text AS position FROM naive_event e ORDER BY e.position";

  const delivered: string[] = [];
  let cursor = 0;
  const readOn = async (): Promise<void> => {
    if (design === "log") {
      const page = await log.read(everything("race"), cursor);
      delivered.push(...page.events.map((event) => String(event.position)));
      cursor = page.covered;
    } else {
      const rows = await sql.query<{ position: string }>(
        { name: "r", text: "SELECT e.position::text AS position FROM naive_event e WHERE e.position > $1 ORDER BY e.position" },
        [cursor],
      );
      delivered.push(...rows.map((row) => row.position));
      cursor = Number(rows.at(-1)?.position ?? cursor);
    }
  };

  const writers = Array.from({ length: WRITERS }, () =>
    runFile("tests/support/racing-writer.ts", [
      url,
      design,
      String(TRANSACTIONS),
      agents.map((agent) => agent.agentId).join(","),
    ]),
  );
  const race = { isOver: false };
  const racing = Promise.all(writers.map((writer) => writer.exited)).then((codes) => {
    race.isOver = true;
    expect(codes, writers.map((writer) => writer.output()).join("\n")).toEqual([0, 0]);
  });
  while (!race.isOver) {
    await readOn();
    await delay(2);
  }
  await racing;
  await readOn();
  const committed = (await sql.query<{ position: string }>({ name: "c", text: committedSql }, [])).map((row) => row.position);
  if (design === "log") {
    const seqs = await sql.query<{ contiguous: boolean }>(
      { name: "q", text: "SELECT max(seq) = count(*) AS contiguous FROM event GROUP BY agent_id" },
      [],
    );
    expect(seqs.every((row) => row.contiguous)).toBe(true);
    expect(committed).toEqual(committed.map((_, index) => String(index + 1)));
  }
  return { delivered, committed };
}

describe("writers in several processes", () => {
  it("lose, repeat and disorder nothing for a reader (invariants 1 and 2)", async () => {
    const { delivered, committed } = await race("log");
    expect(committed.length).toBeGreaterThan(200);
    expect(delivered).toEqual(committed);
  });

  it("lose events where positions come from a plain sequence: the same test fails there", async () => {
    const { delivered, committed } = await race("sequence");
    const lost = committed.filter((position) => !new Set(delivered).has(position));
    expect(lost.length).toBeGreaterThan(0);
    expect(delivered).not.toEqual(committed);
  });
});
