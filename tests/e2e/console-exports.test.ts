import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { policyViolations } from "../support/browser.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, pictures, signInByKeyboard, tabTo } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";

/** Exports that no server makes. */
const FIVE_RUNNING = `INSERT INTO export (id, tenant, what, format, has_texts, filter, as_of, state, rows, bytes, created_by, created_by_kind, created_at)
  SELECT gen_random_uuid()::text, 'acme', 'EVENTS', 'NDJSON', false, '{"visible":null}', 1, 'RUNNING', 1234, 56789, CASE WHEN n < 3 THEN 'ada' ELSE 'anna' END, 'USER', now() - n * interval '1 hour'
  FROM generate_series(1, 5) n`;

withChromium(
  "console: an export has the filters of the address, is made, downloaded, cancelled and removed",
  { timeout: 180_000 },
  async () => {
    const { app, page, complaints, foreign } = await consolePage({
      config: ACTORS,
      script: SCRIPT,
      template: { permission: { mode: "auto" } },
    });
    const violations = await policyViolations(page);
    const anna = connect(app.url, "anna-token");
    const { id } = await anna.createAgent();
    for (const name of ["a.txt", "你好.txt"]) await anna.turn(id, `write ${name}`);
    await signInByKeyboard(page, app, "ada-token", "/console/audit?tool=fs_write&state=COMPLETED&verdict=ALLOW");
    await page.getByRole("table", { name: "Calls" }).getByText("你好.txt").waitFor();
    await page.getByRole("link", { name: "Exports" }).click();
    await page.waitForURL((url) => url.search === "?view=exports&tool=fs_write&state=COMPLETED&verdict=ALLOW");
    expect(await page.getByLabel("Tool", { exact: true }).inputValue()).toBe("fs_write");
    await page.getByText("There is no export.").waitFor();
    expect(await axeViolations(page)).toEqual([]);

    // By keyboard: with texts, as CSV.
    await tabTo(page, page.getByLabel("With texts: inputs, results, messages, notes, payloads"));
    await page.keyboard.press("Space");
    await tabTo(page, page.getByRole("button", { name: "Make the file" }));
    await page.keyboard.press("Enter");
    const files = page.getByRole("table", { name: "Files" });
    const row = files.getByRole("row").nth(1);
    await row.getByText("complete").waitFor();
    await row.getByText("with texts").waitFor();
    await row.getByText("in 7 days").or(row.getByText("in 6 days")).waitFor();
    const link = row.getByRole("link", { name: "Download: Calls, CSV, 2 rows" });
    expect(await link.getAttribute("href")).toMatch(/^\/exports\//);
    const saving = page.waitForEvent("download");
    await tabTo(page, link);
    await page.keyboard.press("Enter");
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(/^triplane-tool-calls-.*\.csv$/);
    const text = await readFile(await saved.path(), "utf8");
    expect(text).toMatch(/^\uFEFFcall_id,/);
    expect(text).toContain("你好.txt");
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-exports");

    // Events know less: the filters that they do not have are gone from the bar, and from the export.
    await page.getByRole("combobox", { name: "Rows" }).selectOption("STEPS");
    await page.getByLabel("With texts: inputs, results, messages, notes, payloads").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Make the file" }).click();
    await row.getByText("Steps, CSV").waitFor();
    await row.getByText("complete").waitFor();
    await page.getByRole("combobox", { name: "Rows" }).selectOption("EVENTS");
    await page.getByLabel("Tool", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Format" }).selectOption("NDJSON");
    await page.getByLabel("With texts: inputs, results, messages, notes, payloads").uncheck();
    await page.getByRole("button", { name: "Make the file" }).click();
    await row.getByText("Events of the log, NDJSON").waitFor();
    await row.getByText("complete").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);

    await row.getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove this file?" });
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove" }).click();
    await row.getByText("cancelled").waitFor();
    expect(await row.getByRole("link").count()).toBe(0);

    // Exports of others that are being made arrive by themselves; a sixth one is refused with the reason.
    await app.database.sql.query({ name: "", text: FIVE_RUNNING }, []);
    await page.getByText("Files being made: 5").waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "Make the file" }).click();
    await page.getByRole("alert").getByText("or 5 of the tenant, are being made").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-exports-full");
    await files.getByRole("button", { name: "Cancel the export" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the export" }).click();
    await page.getByText("Files being made: 4").waitFor();
    await page.getByRole("button", { name: "Make the file" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await violations()).toEqual([]);
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

withChromium("console: an export that fails says why, and texts need the right", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({
    config: { ...ACTORS, exportBytes: 1 },
    script: SCRIPT,
    template: { selfApproval: false },
  });
  await ask(connect(app.url, "anna-token"));
  await signInByKeyboard(page, app, "paul-token", "/console/audit?view=exports&what=EVENTS");
  const texts = page.getByLabel("With texts: inputs, results, messages, notes, payloads");
  expect(await texts.isDisabled()).toBe(true);
  await page.getByText("exporting texts needs the role admin").waitFor();
  const row = page.getByRole("table", { name: "Files" }).getByRole("row").nth(1);
  // The first file is within the bound before it is made; then the room is taken.
  await page.getByRole("button", { name: "Make the file" }).click();
  await row.getByText(/complete|failed/).waitFor();
  await page.getByRole("button", { name: "Make the file" }).click();
  await row.getByText("failed").waitFor();
  await row.getByText(/remove|cancel/).waitFor();
  expect(await row.getByRole("link").count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
