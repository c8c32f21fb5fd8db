import { readFile } from "node:fs/promises";

import { expect } from "vitest";
import { tokenActor } from "../support/actors.ts";
import { screenshot } from "../support/browser.ts";
import { auditOfRows } from "../support/audit.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, type ConsolePage } from "../support/console-page.ts";
import { ConsoleBrowser } from "../support/console-browser.ts";
import { withChromium } from "../support/example-app.ts";

const OFFICE = {
  config: {
    actors: [
      tokenActor("anna", ["user"]),
      tokenActor("vera", ["viewer"]),
      tokenActor("paul", ["approver"]),
      tokenActor("ada", ["admin"]),
    ].map(({ actor }) => actor),
  },
  script: {
    replies: [
      { when: { user: "^write" }, call: [{ tool: "fs_write", input: { path: "docs/a.txt", content: "a" } }] },
      { when: {}, say: ["Hello."] },
    ],
  },
};

async function signIn({ page, open }: ConsolePage, token: string, path: string): Promise<void> {
  await open(path);
  await page.getByLabel("Access token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Audit" }).waitFor();
}

withChromium("console: an administrator ends a session, whose page shows the form", { timeout: 60_000 }, async () => {
  const console = await consolePage(OFFICE);
  const { app, page } = console;
  const anna = new ConsoleBrowser(app);
  await anna.signIn("anna-token");
  expect(await anna.actor()).toBe("anna");
  await signIn(console, "ada-token", "/console/operations");
  const row = page.getByRole("row").filter({ hasText: "Browser of the test" });
  await row.getByRole("button", { name: "End" }).focus();
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-operations");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "End the session of anna?" });
  await dialog.waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "End" }).click();
  // Rows behind an open dialog have no role.
  await dialog.waitFor({ state: "detached" });
  await row.waitFor({ state: "detached" });
  expect(await anna.actor()).not.toBe("anna");
});

withChromium(
  "console: a rule is stored, seen with its use, and revoked; the audit has the call",
  { timeout: 60_000 },
  async () => {
    const console = await consolePage(OFFICE);
    const { app, page, open } = console;
    const anna = connect(app.url, "anna-token");
    const { id } = await anna.createAgent({ title: "Writer" });
    await anna.send(id, "write it");
    await signIn(console, "paul-token", "/console/inbox");
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await page.keyboard.press("a");
    await page.getByRole("button", { name: "Store the rule, and allow" }).click();
    await page.getByText("Nothing waits for a decision.").waitFor();

    await open("/console/policy");
    const table = page.getByRole("table", { name: "Stored rules" });
    await table.getByText("fs_write").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No rule is stored.").waitFor();
    await page.getByLabel("With revoked and expired ones").check();
    await table.getByText("revoked by paul").waitFor();

    for (const view of ["templates", "explain", "simulate"]) {
      await open(`/console/policy?view=${view}`);
      await page.getByRole("navigation", { name: "Policy views" }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
    }

    await open("/console/inbox?tool=fs_write&requester=anna");
    await page.getByRole("link", { name: "History" }).press("Enter");
    await page.waitForURL((url) => url.pathname === "/console/history" && url.search === "?tool=fs_write&requester=anna");
    const decided = page.getByRole("group", { name: "History" }).getByRole("link", { name: "fs_write" });
    await decided.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("For", { exact: true }).fill("vera");
    await page.keyboard.press("Enter");
    await page.getByText("No decision passes the filters.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("For", { exact: true }).fill("anna");
    await page.keyboard.press("Enter");
    await decided.press("Enter");
    await page.waitForURL((url) => url.pathname.startsWith("/console/inbox/"));
    await page.goBack();
    await decided.waitFor();
    expect(new URL(page.url()).search).toBe("?tool=fs_write&requester=anna");

    await open("/console/audit?tool=fs_write");
    await page.getByRole("table", { name: "Calls" }).getByRole("button", { name: "fs_write" }).click();
    await page.getByRole("heading", { name: "Why this verdict" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, "console-audit");
    await page.getByRole("link", { name: "Decisions" }).click();
    await page.getByRole("table", { name: "Decisions" }).getByText("allowed").waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await page.getByRole("link", { name: "Steps" }).click();
    const steps = page.getByRole("table", { name: "Steps" });
    await steps.getByRole("button", { name: "1.1" }).click();
    await page.getByRole("heading", { name: "Turn 1, step 1" }).waitFor();
    await page.getByRole("link", { name: "The model's request of this step" }).press("Enter");
    const request = page.getByRole("dialog", { name: "The model's request" });
    await request.getByText("proved by its hash", { exact: true }).waitFor();
    expect(await request.getByRole("spinbutton", { name: "Step" }).inputValue()).toBe("1");
    expect(new URL(page.url()).search).toBe("?step=1");
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => url.search === "");
    await page.goBack();
    await page.getByRole("heading", { name: "Turn 1, step 1" }).waitFor();
    // A model without a price is no model that costs nothing.
    expect(await steps.getByText("no price").count()).toBe(2);
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, "console-audit-steps");
    await page.getByLabel("Requested by").fill("vera");
    await page.keyboard.press("Enter");
    await page.getByText("No step passes the filters.").waitFor();
    expect(new URL(page.url()).searchParams.get("requester")).toBe("vera");
    await open("/console/audit?view=steps&order=COST&price=none&requester=anna");
    await steps.getByRole("button", { name: "1.2" }).waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV of the shown rows" }).click();
    const rows = (await readFile(await (await saved).path(), "utf8")).trim().split("\r\n");
    expect(rows.map((row) => row.split(",")[9])).toEqual(['"stopReason"', '"end_turn"', '"tool_use"']);
  },
);

withChromium(
  "console: a token is shown once and revoked; a viewer has no buttons to revoke rules",
  { timeout: 60_000 },
  async () => {
    const console = await consolePage(OFFICE);
    const { page, open } = console;
    await signIn(console, "vera-token", "/console/account");
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByLabel("Name, such as").fill("script");
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("Token", { exact: true }).inputValue()).toMatch(/^triplane_/);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "script" }).waitFor();
    expect(await page.getByLabel("Token", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("cell", { name: "script" }).waitFor({ state: "detached" });
    await open("/console/policy");
    await page.getByText("No rule is stored.").waitFor();
    expect(await page.getByRole("button", { name: "Revoke" }).count()).toBe(0);
  },
);

withChromium("console: a page that was asked for with earlier filters is in no list of others", { timeout: 60_000 }, async () => {
  const { app, page, open, complaints } = await consolePage({});
  const { id } = await connect(app.url).createAgent({ title: "Many" });
  const row = Buffer.from(id, "base64").toString().slice("Agent:".length);
  const text = `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
    SELECT gen_random_uuid(), 'local', $1, 1, n, 0, 'p', CASE WHEN n > 150 THEN 'look' ELSE 'fetch' END, 'COMPLETED', 1, false, '[]', '[]', now(), now() FROM generate_series(1, 153) n`;
  await app.database.sql.query({ name: "", text }, [row]);
  await auditOfRows(app.database.sql);

  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route("**/graphql", async (route) => {
    const isSecond = /"after":"/.test(route.request().postData() ?? "");
    if (isSecond) {
      asked.resolve();
      await release.promise;
    }
    await route.continue();
    if (isSecond)
      void route
        .request()
        .response()
        .then(() => answered.resolve());
  });
  await open("/console/audit?tool=fetch");
  const table = page.getByRole("table", { name: "Calls" });
  await table.getByText("fetch").first().waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await asked.promise;
  await page.getByLabel("Tool", { exact: true }).fill("look");
  await page.keyboard.press("Enter");
  await table.getByText("look").first().waitFor();
  release.resolve();
  await answered.promise;
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)))");
  expect(await table.getByText("fetch").count()).toBe(0);
  expect(await table.getByText("look").count()).toBe(3);
  expect(complaints).toEqual([]);
});
