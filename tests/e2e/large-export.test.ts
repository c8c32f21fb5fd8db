import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { CreateExportDocument, type ExportFragment } from "../generated/documents.ts";
import { foldAll } from "../support/audit.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabase } from "../support/database.ts";
import { ended } from "../support/exports.ts";
import { generateCalls } from "../support/generated-calls.ts";
import { startServerProcess } from "../support/server-process.ts";

/** As many bytes as 200,000 calls without their texts. `EXPORT_CALLS` has another number of calls: docs/adr/0058. */
const CALLS = Number(process.env["EXPORT_CALLS"] ?? 40_000);
const OUTPUT_CHARACTERS = CALLS > 100_000 ? 20 : 2_000;
/** What V8 may use for old objects: a server has some 60 MB without an export. */
const HEAP_MB = 110;
const MINUTES = 60_000;
/** The time of the test: a million calls take a quarter of an hour. */
const MOST_MS = (CALLS > 100_000 ? 30 : 5) * MINUTES;

/** The state of the export in the rows. */
const MADE = { name: "", text: "SELECT parts, rows, state FROM export" };

/** The bytes of a download, and the rows that follow each other by their ids: each once, none in another place. */
async function read(app: { readonly url: string }, { viewerUrl }: Pick<ExportFragment, "viewerUrl">) {
  const { body } = await fetch(new URL(viewerUrl ?? "/nothing", app.url));
  if (body === null) throw new Error("there is no file");
  let [bytes, rows, before] = [0, 0, ""];
  for await (const line of createInterface({ input: Readable.from(body) })) {
    const { call_id: id } = JSON.parse(line) as { readonly call_id: string };
    if (id <= before) throw new Error(`${id} comes after ${before}`);
    [bytes, rows, before] = [bytes + Buffer.byteLength(line) + 1, rows + 1, id];
  }
  return { bytes, rows };
}

it(
  `an export of ${CALLS} calls goes on after kill -9 on another server, with every row once, in little memory`,
  { timeout: MOST_MS },
  async () => {
    const { url, sql } = await testDatabase();
    const database = { kind: "postgres", url, connections: 3 } as const;
    const first = await startTestApp({ database });
    const agent = await connect(first.url).createAgent();
    await foldAll(sql);
    await first.close();
    await generateCalls(url, Buffer.from(agent.id, "base64").toString("utf8").slice("Agent:".length), CALLS, OUTPUT_CHARACTERS);

    const killed = await startServerProcess({ DATABASE_URL: url });
    const input = { what: "TOOL_CALLS", format: "NDJSON", withTexts: true } as const;
    const { createExport } = await connect(killed.url).get(CreateExportDocument, { input });
    const parts = async () => (await sql.query<{ parts: number; state: string }>(MADE, []))[0] ?? { parts: 0, state: "" };
    await expect.poll(async () => (await parts()).parts, { timeout: MINUTES, interval: 5 }).toBeGreaterThan(1);
    killed.child.kill("SIGKILL");
    await killed.exited;
    const left = await parts();
    expect(left.state).toBe("RUNNING");
    // Another server would wait for the lease of the part.
    await sql.query({ name: "", text: "UPDATE wait SET due = policy_time() WHERE kind = 'EXPORT'" }, []);

    const app = await startServerProcess({ DATABASE_URL: url, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
    const done = await ended(connect(app.url), createExport.export?.id ?? "", MOST_MS);
    expect(done).toMatchObject({ state: "DONE", rows: CALLS, problem: null });
    expect(done.parts).toBeGreaterThan(left.parts);
    expect(await read(app, done)).toEqual({ bytes: done.bytes, rows: CALLS });
    const [, most] = /^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${app.child.pid}/status`, "utf8")) ?? [];
    console.info(
      `${done.parts} parts, ${Math.round(done.bytes / 1e6)} MB, ${Math.round(Number(most) / 1024)} MB of memory at most`,
    );
  },
);
