import type { Page } from "playwright-core";
import { expect } from "vitest";
import { policyViolations } from "../support/browser.ts";
import { axeViolations, pictures } from "../support/console-page.ts";
import { consoleWorld } from "../support/console-world.ts";
import { withChromium } from "../support/example-app.ts";

/** A screen, by the way to it. */
type Screen = { readonly name: string; readonly path: string; readonly act?: (page: Page) => Promise<unknown> };

/** The question that one row of the inbox opens. */
const question = (name: string, row: string, key?: string): Screen => ({
  name,
  path: "/console/inbox",
  act: async (page) => {
    await page.locator(".queue-row").filter({ hasText: row }).first().click();
    await page.locator(".detail-pane .decide").first().waitFor();
    await page.locator(".detail-pane .skeleton").waitFor({ state: "detached" });
    if (key !== undefined) await page.keyboard.press(key);
  },
});

const pressed = (key: string) => (page: Page) => page.keyboard.press(key);

const THEMES = ["light", "dark"] as const;

withChromium(
  "console: no screen has a violation of accessibility or of the policy, in both themes",
  { timeout: process.env["SCREENSHOTS"] === undefined ? 180_000 : 900_000 },
  async () => {
    const { page, open, agents, foreign } = await consoleWorld();
    const violations = await policyViolations(page);
    const screens: readonly Screen[] = [
      question("inbox-command", "Release 2.1"),
      question("inbox-deny", "Release 2.1", "d"),
      question("inbox-edit", "Release 2.1", "e"),
      question("inbox-always", "Release 2.1", "a"),
      question("inbox-snooze", "Release 2.1", "s"),
      question("inbox-diff", "Docs"),
      question("inbox-host", "registry.npmjs.org"),
      question("inbox-values", "Which hotel"),
      question("inbox-budget", "Thrifty"),
      question("inbox-outcome", "README"),
      { name: "inbox-none", path: "/console/inbox?find=nowhere" },
      { name: "inbox-snoozed", path: "/console/inbox?view=snoozed" },
      { name: "inbox-unknown", path: "/console/inbox/unknown" },
      { name: "keys", path: "/console/inbox", act: pressed("?") },
      { name: "history", path: "/console/history" },
      { name: "agents", path: "/console/agents" },
      { name: "agents-new", path: "/console/agents", act: (page) => page.getByRole("button", { name: "New agent" }).click() },
      { name: "agent", path: `/console/agents/${agents.mender}` },
      {
        name: "agent-call",
        path: `/console/agents/${agents.mender}`,
        act: (page) => page.locator("details.call summary").first().click(),
      },
      {
        name: "agent-file",
        path: `/console/agents/${agents.mender}`,
        act: (page) => page.getByRole("button", { name: "notes.md" }).click(),
      },
      {
        name: "agent-fork",
        path: `/console/agents/${agents.mender}`,
        act: (page) => page.getByRole("button", { name: "Fork …" }).click(),
      },
      {
        name: "agent-request",
        path: `/console/agents/${agents.mender}`,
        act: (page) =>
          page.getByRole("complementary", { name: "Standing" }).getByRole("button", { name: "The model's request" }).click(),
      },
      { name: "agent-team", path: `/console/agents/${agents.team}` },
      { name: "timeline", path: `/console/agents/${agents.team}?view=timeline` },
      { name: "agent-unknown", path: "/console/agents/unknown" },
      { name: "audit-calls", path: "/console/audit" },
      {
        name: "audit-call",
        path: "/console/audit?tool=fs_edit",
        act: (page) => page.getByRole("button", { name: "fs_edit" }).first().click(),
      },
      { name: "audit-decisions", path: "/console/audit?view=decisions" },
      { name: "audit-steps", path: "/console/audit?view=steps" },
      { name: "audit-charts", path: "/console/audit?view=charts" },
      { name: "audit-none", path: "/console/audit?tool=none" },
      { name: "policy-rules", path: "/console/policy" },
      { name: "policy-templates", path: "/console/policy?view=templates" },
      { name: "policy-explain", path: "/console/policy?view=explain" },
      { name: "policy-simulate", path: "/console/policy?view=simulate" },
      { name: "operations", path: "/console/operations" },
      { name: "account", path: "/console/account" },
      { name: "account-token", path: "/console/account", act: (page) => page.getByRole("button", { name: "New token" }).click() },
      { name: "no-screen", path: "/console/nowhere" },
    ];
    await open("/console/inbox");
    await page.getByLabel("Access token").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "sign-in");
    await page.getByLabel("Access token").fill("ada-token");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Audit" }).waitFor();
    const found: string[] = [];
    for (const { name, path, act } of screens) {
      await open(path);
      await page.getByRole("main").waitFor();
      await page.locator("main .skeleton").first().waitFor({ state: "detached" });
      await act?.(page);
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await axeViolations(page)).map((violation) => `${name}, ${colorScheme}: ${violation}`));
      }
      await picturesInAll(page, name);
    }
    expect(found).toEqual([]);
    expect({ violations: await violations(), foreign }).toEqual({ violations: [], foreign: [] });
  },
);

/** Pictures in both languages. */
async function picturesInAll(page: Page, name: string): Promise<void> {
  if (process.env["SCREENSHOTS"] === undefined) return;
  const language = page.locator(".settings select").last();
  await pictures(page, name);
  await language.selectOption("zh", { force: true });
  await pictures(page, `${name}-zh`);
  await language.selectOption("en", { force: true });
}
