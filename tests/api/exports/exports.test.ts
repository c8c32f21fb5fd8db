import { describe, expect, it } from "vitest";
import {
  CancelExportDocument,
  CreateExportDocument,
  ExportsDocument,
  PollTimelineDocument,
  type CreateExportInput,
} from "../../generated/documents.ts";
import { NEIGHBOURS, tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { download, ended, exported, rowsOf } from "../../support/exports.ts";

const script = {
  replies: [
    {
      when: { user: "go" },
      call: [
        { tool: "fs_read", input: { path: "missing.txt" } },
        { tool: "fs_write", input: { path: "a.txt", content: "=1+1" } },
      ],
    },
    { when: {}, say: ["Done."] },
  ],
};
const template = { permission: { mode: "auto" } };
const PEOPLE = { actors: [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor] };

describe("createExport", () => {
  it("makes a file of the calls, says how far it is, and reports its beginning and end", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const done = await exported(client);
    expect(done).toMatchObject({ state: "DONE", rows: 2, parts: 1, problem: null, since: null, withTexts: false });
    expect(Date.parse(done.expiresAt ?? "") - Date.parse(done.endedAt ?? "")).toBe(7 * 24 * 60 * 60_000);
    const rows = await rowsOf(app, done);
    // Both began in one step, perhaps within one millisecond.
    const facts = rows.map(({ name, state, copy_of: copyOf }) => ({ name, state, copyOf }));
    expect(facts).toHaveLength(2);
    expect(facts).toContainEqual({ name: "fs_read", state: "FAILED", copyOf: null });
    expect(facts).toContainEqual({ name: "fs_write", state: "COMPLETED", copyOf: null });
    expect(rows[0]).not.toHaveProperty("requested_input");
    const { timeline } = await client.get(PollTimelineDocument, { kinds: ["EXPORT_CREATED", "EXPORT_ENDED"] });
    expect(timeline.events).toMatchObject([
      { exported: { exportId: done.id, state: "RUNNING" }, changedBy: { actorId: "local" } },
      { exported: { exportId: done.id, state: "DONE", rows: 2 }, changedBy: { kind: "SYSTEM" } },
    ]);
    expect((await client.get(ExportsDocument, {})).exports.nodes.map(({ id }) => id)).toEqual([done.id]);
  });

  it("makes a file with a head alone of nothing", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    const done = await exported(client, { format: "CSV" });
    expect(done).toMatchObject({ state: "DONE", rows: 0, parts: 1 });
    const { bytes, headers } = await download(app, done);
    expect(bytes.toString("utf8")).toMatch(/^\uFEFFcall_id,relay_id,agent_id,[a-z_,]+\r\n$/);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const none = await exported(client);
    expect([none.rows, none.parts, (await download(app, none)).bytes.length]).toEqual([0, 0, 0]);
  });

  it("has the texts only for those with the right to them", async () => {
    const app = await startTestApp({ script, template, config: PEOPLE });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    await anna.turn(agent.id, "go");
    for (const name of ["anna", "vera", "paul"]) {
      const { createExport } = await connect(app.url, `${name}-token`).get(CreateExportDocument, {
        input: { what: "TOOL_CALLS", format: "CSV", withTexts: true },
      });
      expect(createExport).toMatchObject({ export: null, userErrors: [{ code: "FORBIDDEN", field: ["withTexts"] }] });
    }
    const done = await exported(connect(app.url, "ada-token"), { withTexts: true });
    const written = (await rowsOf(app, done)).find(({ name }) => name === "fs_write");
    expect(written).toMatchObject({ requested_input: '{"path":"a.txt","content":"=1+1"}', name: "fs_write" });
  });

  it("has the rows of the maker's own agents alone, for a user, and none of another tenant", async () => {
    const app = await startTestApp({ script, template, config: PEOPLE });
    const as = (name: string) => connect(app.url, `${name}-token`);
    for (const name of ["anna", "ben", "zoe"]) await as(name).turn((await as(name).createAgent()).id, "go");
    const counts = async (what: CreateExportInput["what"]) =>
      Promise.all(["anna", "vera", "zoe"].map(async (name) => (await exported(as(name), { what })).rows));
    expect(await counts("TOOL_CALLS")).toEqual([2, 4, 2]);
    const [own, all] = await counts("EVENTS");
    expect(own).toBeGreaterThan(10);
    expect(all).toBeGreaterThan(2 * (own ?? 0) - 1);
    // Nobody but its maker and administrators sees an export.
    const done = await exported(as("anna"));
    const listed = async (name: string) => (await as(name).get(ExportsDocument, {})).exports.nodes.map(({ id }) => id);
    expect(await listed("ada")).toContain(done.id);
    for (const name of ["ben", "vera", "zoe"]) {
      expect(await listed(name)).not.toContain(done.id);
      const { cancelExport } = await as(name).get(CancelExportDocument, { id: done.id });
      expect(cancelExport.userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["exportId"] }]);
      expect((await as(name).post({ query: `{ node(id: "${done.id}") { id } export(id: "${done.id}") { id } }` })).data).toEqual({
        node: null,
        export: null,
      });
    }
  });

  it("takes the filter of the audit, and refuses what cannot be", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect((await exported(client, { filter: { tools: ["fs_write"] } })).rows).toBe(1);
    expect((await exported(client, { filter: { agentIds: [agent.id], states: ["FAILED"] } })).rows).toBe(1);
    expect((await exported(client, { filter: { created: { to: "2020-01-01T00:00:00Z" } } })).rows).toBe(0);
    const refused = async (input: Partial<CreateExportInput>) => {
      const { data, errors } = await client.ask(CreateExportDocument, {
        input: { what: "APPROVALS", format: "CSV", ...input },
      });
      return data?.createExport.userErrors[0] ?? errors[0]?.extensions?.["code"];
    };
    expect(await refused({ filter: { states: ["FAILED"] } })).toMatchObject({ code: "INVALID", field: ["filter", "states"] });
    expect(await refused({ what: "EVENTS", filter: { tools: ["fs_read"] } })).toMatchObject({ field: ["filter", "tools"] });
    expect(await refused({ asOf: "nonsense" })).toBe("CURSOR_MALFORMED");
    expect(await refused({ idempotencyKey: "" })).toMatchObject({ code: "INVALID", field: ["idempotencyKey"] });
    const now = (await exported(client)).asOf;
    expect(await refused({ since: now, asOf: "0" })).toMatchObject({ code: "INVALID", field: ["since"] });
    const foreign = await refused({ since: now.replace(/^1\.[0-9a-f]{8}/, "1.00000000") });
    expect(foreign).toBe("CURSOR_FOREIGN");
  });

  it("makes one export for one key", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    const once = async (format: CreateExportInput["format"]) =>
      (await client.get(CreateExportDocument, { input: { what: "TOOL_CALLS", format, idempotencyKey: "k" } })).createExport;
    const first = await once("CSV");
    await client.createAgent();
    expect((await once("CSV")).export?.id).toBe(first.export?.id);
    expect((await once("NDJSON")).userErrors).toMatchObject([{ code: "IDEMPOTENCY_KEY_REUSED" }]);
    await ended(client, first.export?.id ?? "");
  });

  it("removes the file of one that is cancelled", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    const done = await exported(client, { format: "CSV" });
    const { cancelExport } = await client.get(CancelExportDocument, { id: done.id });
    expect(cancelExport.export).toMatchObject({ state: "CANCELLED", parts: 0, keptBytes: 0, viewerUrl: null });
    expect((await download(app, done)).status).toBe(404);
    expect(await app.database.sql.query({ name: "", text: "SELECT FROM export_part" }, [])).toEqual([]);
    // Once more: nothing happens.
    expect((await client.get(CancelExportDocument, { id: done.id })).cancelExport.userErrors).toEqual([]);
  });
});
