import { describe, expect, it } from "vitest";
import {
  CancelExportDocument,
  CreateAccessTokenDocument,
  CreateExportDocument,
  ExportDocument,
  RevokeAccessTokenDocument,
} from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { foldAll } from "../../support/audit.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { testDatabase } from "../../support/database.ts";
import { download, exported, rowsOf } from "../../support/exports.ts";
import { generateCalls } from "../../support/generated-calls.ts";

const PEOPLE = { actors: ["anna", "ben", "ada"].map((name) => tokenActor(name, name === "ada" ? ["admin"] : ["user"]).actor) };

/** An export whose file is never made: its wait is not due. */
async function begun(client: TestClient) {
  const { createExport } = await client.get(CreateExportDocument, { input: { what: "TOOL_CALLS", format: "CSV" } });
  return createExport;
}

/** A server whose agent has calls with outputs of about so many characters each, and a client of an administrator. */
async function withCalls(calls: number, characters: number) {
  const { url, sql } = await testDatabase();
  const database = { kind: "postgres", url, connections: 3 } as const;
  const app = await startTestApp({ database, config: PEOPLE });
  const ada = connect(app.url, "ada-token");
  const agent = await ada.createAgent();
  await foldAll(sql);
  await generateCalls(url, Buffer.from(agent.id, "base64").toString("utf8").slice("Agent:".length), calls, characters);
  return { app, ada, sql, database };
}

describe("exports at their edges", () => {
  it("of one actor leave places to others, and are refused beyond those of the tenant", async () => {
    const { url, sql } = await testDatabase();
    const database = { kind: "postgres", url, connections: 3 } as const;
    const app = await startTestApp({ database, config: PEOPLE });
    // A trigger keeps them from being made.
    await sql.query(
      {
        name: "",
        text: "CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.due := now() + interval '1 day'; RETURN NEW; END$$",
      },
      [],
    );
    await sql.query(
      {
        name: "",
        text: "CREATE TRIGGER waits BEFORE INSERT ON wait FOR EACH ROW WHEN (NEW.kind = 'EXPORT') EXECUTE FUNCTION waits()",
      },
      [],
    );
    const [anna, ben, ada] = ["anna", "ben", "ada"].map((name) => connect(app.url, `${name}-token`)) as [
      TestClient,
      TestClient,
      TestClient,
    ];
    const [first] = [await begun(anna), await begun(anna), await begun(anna)];
    expect((await begun(anna)).userErrors).toMatchObject([{ code: "QUEUE_FULL", field: null }]);
    expect([(await begun(ben)).userErrors, (await begun(ben)).userErrors]).toEqual([[], []]);
    // The tenant has five.
    expect((await begun(ada)).userErrors).toMatchObject([{ code: "QUEUE_FULL" }]);
    await anna.get(CancelExportDocument, { id: first?.export?.id ?? "" });
    expect((await begun(ada)).userErrors).toEqual([]);
  });

  it("have rows of a megabyte each, formulas, NUL and lone surrogates as they are", { timeout: 60_000 }, async () => {
    const { app, ada, sql } = await withCalls(12, 1_000_000);
    const odd = '=1+1\u0001\u2028"\r\n\u{1F600}';
    await sql.query(
      {
        name: "",
        text: `UPDATE tool_call SET output = $1, requested_input = '{"text": "\\u0000 \\ud800"}' WHERE step = 1`,
      },
      [odd],
    );
    const done = await exported(ada, { withTexts: true });
    // Eight megabytes a part.
    expect(done).toMatchObject({ state: "DONE", rows: 12, parts: 2 });
    const rows = await rowsOf(app, done);
    expect(rows[0]).toMatchObject({ output: odd, requested_input: '{"text": "\\u0000 \\ud800"}' });
    expect(rows.slice(1).map(({ output }) => (typeof output === "string" ? output.length : 0))).toEqual(
      Array.from({ length: 11 }, () => 1_000_000),
    );
    const csv = await exported(ada, { withTexts: true, format: "CSV" });
    const { bytes } = await download(app, csv);
    const text = bytes.toString("utf8");
    expect([text.startsWith("\uFEFFcall_id,"), text.split("\uFEFF").length]).toEqual([true, 2]);
    // A part begins in a line of its own: 12 rows, the names, and a line break in one of the texts.
    expect([csv.parts, text.split("\r\n").length]).toEqual([2, 12 + 1 + 1 + 1]);
    // The first part has at most eight megabytes.
    for (const [start, end] of [
      [5_000_000, 11_000_000],
      [11_500_000, 11_500_009],
    ] as const) {
      const part = await download(app, csv, { range: `bytes=${start}-${end}` });
      expect([part.status, part.bytes.equals(bytes.subarray(start, end + 1))]).toEqual([206, true]);
    }
    expect(text).toContain(`"'${odd.replaceAll('"', '""')}"`);
    expect(text).toContain('"{""text"": ""\\u0000 \\ud800""}"');
  });

  it.each(["loses the rights", "has its server closed"])(
    "end a download whose actor %s while it runs, and not as if it were whole",
    { timeout: 60_000 },
    async (what) => {
      const { app, ada } = await withCalls(32, 1_000_000);
      const { createAccessToken } = await ada.get(CreateAccessTokenDocument, { input: { name: "a program" } });
      const done = await exported(connect(app.url, createAccessToken.secret ?? ""), { withTexts: true });
      expect(done.parts).toBeGreaterThan(3);
      const { body } = await fetch(new URL(done.viewerUrl ?? "", app.url));
      const reader = body?.getReader();
      let bytes = (await reader?.read())?.value?.length ?? 0;
      if (what === "loses the rights") await ada.get(RevokeAccessTokenDocument, { id: createAccessToken.accessToken?.id ?? "" });
      else await app.close();
      const rest = async (): Promise<void> => {
        for (;;) {
          const next = await reader?.read();
          if (next === undefined || next.done) return;
          bytes += next.value.length;
        }
      };
      await expect(rest()).rejects.toThrow();
      expect(bytes).toBeLessThan(done.bytes);
    },
  );

  it("of an actor who has left are made to their end, and are for administrators alone", async () => {
    const { url } = await testDatabase();
    const database = { kind: "postgres", url, connections: 3 } as const;
    const before = await startTestApp({ database, config: PEOPLE });
    const done = await exported(connect(before.url, "anna-token"), { format: "CSV" });
    await before.close();
    const after = await startTestApp({ database, config: { actors: PEOPLE.actors.slice(1) } });
    const [ben, ada] = [connect(after.url, "ben-token"), connect(after.url, "ada-token")];
    expect((await ben.get(ExportDocument, { id: done.id })).export).toBeNull();
    const hers = (await ada.get(ExportDocument, { id: done.id })).export;
    expect(hers).toMatchObject({ state: "DONE", createdBy: { actorId: "anna" } });
    expect((await download(after, { viewerUrl: hers?.viewerUrl ?? null })).status).toBe(200);
    expect((await download(after, done)).status).toBe(401);
  });
});
