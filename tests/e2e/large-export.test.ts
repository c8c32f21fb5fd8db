import { expect, it } from "vitest";
import { CreateExportDocument } from "../generated/documents.ts";
import { foldAll } from "../support/audit.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabase } from "../support/database.ts";
import { download, ended } from "../support/exports.ts";
import { generateCalls } from "../support/generated-calls.ts";
import { startServerProcess } from "../support/server-process.ts";

const CALLS = 200_000;
/** What V8 may use for old objects. */
const HEAP_MB = 110;

/** The state of the export in the rows. */
const MADE = { name: "", text: "SELECT parts, rows, state FROM export" };

it(
  "an export of 200,000 calls goes on after kill -9 on another server, with every row once, in little memory",
  { timeout: 300_000 },
  async () => {
    const { url, sql } = await testDatabase();
    const database = { kind: "postgres", url, connections: 3 } as const;
    const first = await startTestApp({ database });
    const agent = await connect(first.url).createAgent();
    await foldAll(sql);
    await first.close();
    await generateCalls(url, Buffer.from(agent.id, "base64").toString("utf8").slice("Agent:".length), CALLS);

    const killed = await startServerProcess({ DATABASE_URL: url });
    const { createExport } = await connect(killed.url).get(CreateExportDocument, {
      input: { what: "TOOL_CALLS", format: "NDJSON" },
    });
    const parts = async () => (await sql.query<{ parts: number; state: string }>(MADE, []))[0] ?? { parts: 0, state: "" };
    await expect.poll(async () => (await parts()).parts, { timeout: 60_000, interval: 5 }).toBeGreaterThan(1);
    killed.child.kill("SIGKILL");
    await killed.exited;
    const left = await parts();
    expect(left.state).toBe("RUNNING");
    // Another server would wait for the lease of the part.
    await sql.query({ name: "", text: "UPDATE wait SET due = policy_time() WHERE kind = 'EXPORT'" }, []);

    // A heap of its own, in which the server has some 60 MB before.
    const app = await startServerProcess({ DATABASE_URL: url, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
    const done = await ended(connect(app.url), createExport.export?.id ?? "");
    expect(done).toMatchObject({ state: "DONE", rows: CALLS, problem: null });
    expect(done.parts).toBeGreaterThan(left.parts);

    const { bytes } = await download(app, done);
    expect(bytes.length).toBe(done.bytes);
    const ids = bytes
      .toString("utf8")
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { call_id: string }).call_id);
    expect([ids.length, new Set(ids).size]).toEqual([CALLS, CALLS]);
    expect(ids).toEqual(ids.toSorted());
  },
);
