import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findExport } from "../../../src/deliveries/exports/stored.ts";
import { firstPlace, readRows } from "../../../src/deliveries/exports/rows.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import type { CreateExportInput } from "../../generated/documents.ts";
import { ofType } from "../../support/client.ts";
import { exported, rowsOf } from "../../support/exports.ts";
import { ask, office } from "../../support/office.ts";

it("has an approval once that was allowed and then replaced, since its path led elsewhere", async () => {
  const { app, as } = await office({ permission: { mode: "approval" } });
  const states = async (input: Partial<CreateExportInput> = {}) => {
    const done = await exported(as("ada"), { what: "APPROVALS", ...input });
    expect(done).toMatchObject({ state: "DONE", problem: null });
    return (await rowsOf(app, done)).map(({ state }) => state);
  };
  const link = join(app.workspace, "a.txt");
  await mkdir(join(app.workspace, "docs"));
  for (const name of ["docs/real.txt", "other.txt"]) await writeFile(join(app.workspace, name), "");
  await symlink("docs/real.txt", link);
  const { agent, approvalId, inputHash } = await ask(as("anna"));
  const { asOf: asked } = await exported(as("ada"), { what: "APPROVALS" });
  await rm(link);
  await symlink("other.txt", link);
  const { cursor: decided } = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
  for await (const { events } of as("anna").timeline({ agentId: agent, since: "0" }))
    if (ofType(events, "PermissionClosed").some(({ approvalState }) => approvalState === "STALE")) break;
  for (const input of [{}, { since: asked }, { asOf: decided }, { since: asked, asOf: decided }])
    expect(await states(input), JSON.stringify(input)).toEqual(["STALE"]);
  for (const input of [{ asOf: asked }, { since: decided }]) expect(await states(input), JSON.stringify(input)).toEqual([]);
});

it("continues after an approval that is replaced between two parts", async () => {
  const { app, as } = await office({ permission: { mode: "approval" } });
  const { sql } = app.database;
  for (const name of ["a.txt", "b.txt"]) {
    const { agent, approvalId, inputHash } = await ask(as("anna"), `write ${name}`);
    const { cursor } = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    await as("anna").until(agent, "DONE", cursor);
  }
  const { id } = await exported(as("ada"), { what: "APPROVALS" });
  const made = await findExport(sql, rowId("Export", id));
  if (made === null) throw new Error("there is no such export");
  const read = (place = firstPlace(made, 0)) => readRows(sql, made, place, new AbortController().signal);
  const [first, second] = (await read()).rows;
  const replaced = "UPDATE approval SET state = 'STALE', closed_at = closed_at + interval '1 hour' WHERE id = $1";
  await sql.query({ name: "", text: replaced }, [String(first?.values[0])]);
  expect((await read(first?.place)).rows).toEqual([second]);
});
