import { expect, it } from "vitest";
import { rowId } from "../../src/lib/global-id.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { ArchiveAgentDocument, InterruptAgentDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { says } from "../support/models.ts";
import { first, lead, task, teamModel, treeOf, until, worker } from "../support/team.ts";
import { aroundWrites } from "../support/writes.ts";

/** A parent whose child has no row yet: its commit waits for `mayStart`. */
async function unmadeChild(background: boolean) {
  const [starting, mayStart] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const model = teamModel({ lead: [first(task({ background }))], worker: [() => says("Three.")] });
  const app = await startTestApp({
    model,
    config: { templates: { assistant: lead, worker } as Record<string, TemplateConfig> },
    overrides: {
      sql: (sql) =>
        aroundWrites(sql, async ({ kinds }, write) => {
          if (kinds.includes("AGENT_CREATED") && kinds.includes("MESSAGE_RECEIVED")) {
            starting.resolve();
            await mayStart.promise;
          }
          return write();
        }),
    },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await starting.promise;
  if (background) await client.until(id, "DONE");
  return { app, client, id, model, mayStart: () => mayStart.resolve() };
}

it.each([
  ["archive", "foreground", false],
  ["archive", "background", true],
  ["interrupt", "foreground", false],
  ["interrupt", "background", true],
])("no child is made after an %s of the tree: %s", async (act, _where, background) => {
  const { app, client, id, model, mayStart } = await unmadeChild(background);
  const input = { agentId: id, tree: true };
  if (act === "archive") await client.get(ArchiveAgentDocument, { input });
  else await client.get(InterruptAgentDocument, { input });
  await until(client, id, ({ state }) => state === "READY");
  mayStart();
  const open = { name: "", text: "SELECT kind FROM wait WHERE kind LIKE '%CHILD' AND settled_at IS NULL" };
  await expect.poll(() => app.database.sql.query(open, []), { timeout: 10_000 }).toEqual([]);
  expect((await treeOf(client, id)).children).toEqual([]);
  expect(model.calls.filter(({ request }) => request.system === "worker")).toEqual([]);
  const returned = ofType(await client.events(id), "AgentReturned").map(({ outcome }) => outcome);
  expect(returned).toEqual(background ? ["INTERRUPTED"] : []);
});

it("no child is made below an archived agent", async () => {
  const { app, client, id, mayStart } = await unmadeChild(true);
  // As if another server had archived it, just before the commit of the child.
  const archive = { name: "", text: "UPDATE agent SET archived_at = now() WHERE id = $1" };
  await app.database.sql.query(archive, [rowId("Agent", id)]);
  mayStart();
  await expect.poll(async () => ofType(await client.events(id), "AgentReturned").length, { timeout: 10_000 }).toBe(1);
  expect(ofType(await client.events(id), "AgentReturned")).toMatchObject([
    { outcome: "INTERRUPTED", answer: "an agent above it was archived" },
  ]);
  expect((await treeOf(client, id)).children).toEqual([]);
});
