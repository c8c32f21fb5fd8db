import type { Page } from "playwright-core";
import { expect } from "vitest";
import {
  ChartCallsDocument,
  ChartCostsDocument,
  ChartDecisionsDocument,
  ChartTurnsDocument,
  ChartVerdictsDocument,
} from "../../console/src/generated/documents.ts";
import { ANALYST_ROWS } from "../support/analyst-rows.ts";
import { auditOfRows } from "../support/audit.ts";
import { policyViolations } from "../support/browser.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, pictures, tabTo } from "../support/console-page.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { withChromium } from "../support/example-app.ts";

/** Calls that ran and asked, and steps of eight models, of which one has no price. */
const MORE_ROWS = `
UPDATE tool_call SET started_at = created_at, completed_at = created_at + duration_ms * interval '1 ms',
  verdict = (ARRAY['allow', 'ask', 'deny'])[1 + substring(id FROM 6)::int % 3];
UPDATE agent SET turn = 1, done_reason = CASE WHEN substring(id FROM 7)::int % 6 = 0 THEN 'ERROR' ELSE 'COMPLETED' END WHERE id LIKE 'agent-%';
UPDATE step SET model = 'model-' || (input_tokens / 10) % 8, cost_usd = CASE WHEN (input_tokens / 10) % 8 = 7 THEN NULL ELSE cost_usd END WHERE input_tokens IS NOT NULL;`;

/** The values of a chart's table: a list for each bucket, and null for a value that is not there. */
async function tableOf(page: Page, title: string): Promise<readonly (readonly (number | null)[])[]> {
  const rows = page.getByRole("table", { name: title, exact: true }).locator("tbody tr");
  return rows.evaluateAll((found) =>
    found.map((row) =>
      [...row.querySelectorAll("td")].map((cell) => {
        const value = cell.querySelector("data")?.value;
        return value === undefined ? null : Number(value);
      }),
    ),
  );
}

const TITLES = [
  "Calls",
  "Run times",
  "Verdicts",
  "Turns by reason",
  "Turn times",
  "Cost of turns",
  "Cost by model",
  "From request to decision",
] as const;

withChromium("console: the charts of the audit draw the groups, with tables by keyboard", { timeout: 120_000 }, async () => {
  const url = await testDatabaseUrl();
  const { app, page, complaints, foreign, open } = await consolePage({ database: { kind: "postgres", url, connections: 3 } });
  const client = connect(app.url);
  // The log of the tenant begins with it.
  await client.createAgent({ title: "Other" });
  const rows = await administrator(url);
  const browser = await page.context().newCDPSession(page);
  await browser.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kathmandu" });
  await rows.query(ANALYST_ROWS + MORE_ROWS);
  await auditOfRows(app.database.sql);
  const violations = await policyViolations(page);
  const midnight = async (day: number): Promise<string> => page.evaluate((date) => new Date(2026, 2, date).toISOString(), day);
  const range = { bucket: { unit: "DAY", timeZone: "Asia/Kathmandu" } as const, from: await midnight(2), to: await midnight(9) };

  const scripts: string[] = [];
  page.on("response", (response) => scripts.push(new URL(response.url()).pathname));
  await open("/console/audit?from=2026-03-02&to=2026-03-08");
  await page.getByRole("table", { name: "Calls" }).waitFor();
  expect(scripts.filter((path) => path.includes("/charts-"))).toEqual([]);

  await open("/console/audit?view=charts&from=2026-03-02&to=2026-03-08&bucket=DAY");
  await page.getByRole("region", { name: "Calls", exact: true }).locator("canvas").waitFor();
  expect(scripts.filter((path) => path.includes("/charts-")).length).toBeGreaterThan(0);
  // The pointer in the middle of seven days is on the fourth.
  await page.getByRole("region", { name: "Calls", exact: true }).locator(".u-over").hover();
  await page.getByText("Thu, Mar 5, 2026 · Calls: 9 · Failed: 2 · Failed share: 22.2%").waitFor();
  await pictures(page, "console-charts");
  for (const title of TITLES) {
    await page.getByRole("region", { name: title, exact: true }).locator("canvas").waitFor();
    await tabTo(page, page.locator("summary").filter({ hasText: `Table: ${title}` }));
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: title, exact: true }).waitFor();
  }
  expect(await axeViolations(page)).toEqual([]);
  await pictures(page, "console-charts-tables");

  const calls = (await client.get(ChartCallsDocument, { filter: {}, ...range })).toolCallGroups;
  const days = calls.groups[0]?.series ?? [];
  expect(days.reduce((sum, day) => sum + day.calls, 0)).toBeGreaterThan(40);
  expect(await tableOf(page, "Calls")).toEqual(days.map((day) => [day.calls, day.failed, day.failureRate]));
  expect(await tableOf(page, "Run times")).toEqual(
    days.map(({ durationMs }) => [durationMs.p50, durationMs.p95, durationMs.count]),
  );
  const verdicts = (await client.get(ChartVerdictsDocument, { filter: {}, ...range })).toolCallGroups.groups;
  const verdictValues = (index: number) =>
    (["ALLOW", "ASK", "DENY"] as const).map(
      (verdict) => verdicts.find((group) => group.verdict === verdict)?.series[index]?.calls ?? 0,
    );
  expect(await tableOf(page, "Verdicts")).toEqual(days.map((_, index) => verdictValues(index)));
  const { models, all } = await client.get(ChartCostsDocument, { filter: {}, ...range });
  const costs = await tableOf(page, "Cost by model");
  expect(costs.map((row) => row.slice(0, 6))).toEqual(
    days.map((_, index) => models.groups.map(({ series }) => series[index]?.costUsd)),
  );
  expect(costs.map((row) => row.slice(7))).toEqual(all.groups[0]?.series.map((day) => [day.costUsd, day.unpricedSteps]));
  expect(costs.flat().every((value) => value !== null)).toBe(true);
  const turns = await client.get(ChartTurnsDocument, { filter: {}, ...range });
  const turnDays = turns.all.groups[0]?.series ?? [];
  expect(turnDays.reduce((sum, day) => sum + day.turns, 0)).toBeGreaterThan(40);
  // The turns of these rows have completed or failed.
  const byReason = (index: number) =>
    (["COMPLETED", "ERROR"] as const).map(
      (reason) => turns.reasons.groups.find((group) => group.reason === reason)?.series[index]?.turns ?? 0,
    );
  expect(await tableOf(page, "Turns by reason")).toEqual(turnDays.map((_, index) => byReason(index)));
  expect(await tableOf(page, "Turn times")).toEqual(
    turnDays.map(({ durationMs }) => [durationMs.p50, durationMs.p95, durationMs.count]),
  );
  expect(await tableOf(page, "Cost of turns")).toEqual(
    turnDays.map((day) => [day.costUsd, day.turns === 0 ? null : day.costUsd / day.turns, day.unpricedSteps]),
  );
  const decisions = (await client.get(ChartDecisionsDocument, { filter: {}, ...range })).approvalGroups;
  expect(await tableOf(page, "From request to decision")).toEqual(
    decisions.groups[0]?.series.map(({ decided, decisionMs }) => [decisionMs.p50, decisionMs.p95, decided]),
  );
  await page.getByText(calls.asOf).first().waitFor();

  // A filter that one chart does not know is named there.
  await page.getByLabel("Tool").fill("bash");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Cost by model" }).getByText("Without the filter: Tool").waitFor();
  const bash = (await client.get(ChartCallsDocument, { filter: { tools: ["bash"] }, ...range })).toolCallGroups.groups[0];
  await expect.poll(() => tableOf(page, "Calls")).toEqual(bash?.series.map((day) => [day.calls, day.failed, day.failureRate]));

  // A week that the range cuts is marked.
  await page.getByLabel("Tool").fill("");
  await page.getByLabel("From day").fill("2026-03-04");
  await page.getByLabel("Bucket").selectOption("WEEK");
  const first = page.getByRole("table", { name: "Calls", exact: true }).getByRole("row").nth(1);
  await first.getByText("in part").waitFor();
  expect(new URL(page.url()).search).toBe("?view=charts&from=2026-03-04&to=2026-03-08&bucket=WEEK");
  await page.getByText("Without the filter: Tool").waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Calls", exact: true }).getByText("the range or the present cuts it").waitFor();
  await pictures(page, "console-charts-part");

  // A range without rows, and one that the server refuses.
  await open("/console/audit?view=charts&from=2025-01-01&to=2025-01-02");
  await page.getByText("No step in this range passes the filters.").waitFor();
  await page.getByText("No approval of this range was decided.").waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await open("/console/audit?view=charts&from=2026-03-09&to=2026-03-01");
  await expect.poll(() => page.getByRole("button", { name: "Try again" }).count()).toBe(TITLES.length);
  expect(await axeViolations(page)).toEqual([]);
  expect(await violations()).toEqual([]);
  expect(foreign).toEqual([]);
  expect(complaints).toEqual([]);
});
