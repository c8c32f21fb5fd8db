import type { Page } from "playwright-core";
import { expect } from "vitest";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";

const OFFICE = { config: ACTORS, script: SCRIPT, template: { selfApproval: false } } as const;
const ASSETS = "**/console/assets/*";

/** A mark on the document, which a reload would remove. */
async function mark(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate(() => (document.documentElement.dataset["mark"] = "kept"));
  return () => page.evaluate(() => document.documentElement.dataset["mark"] === "kept");
}

withChromium(
  "console: a part that cannot be loaded says so in its place, and comes once the server answers",
  { timeout: 120_000 },
  async () => {
    const { app, page } = await consolePage(OFFICE);
    await ask(connect(app.url, "anna-token"), "write a.txt");
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    const alert = page.getByRole("alert").filter({ hasText: "This part could not be loaded." });
    const keys = page.getByRole("dialog", { name: "Keys" });
    const words = page.getByRole("textbox", { name: "Words for the model" });
    await page.getByRole("button", { name: "Deny …" }).press("Enter");
    await words.fill("Not in this folder.");
    const isMarked = await mark(page);

    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Keys" }).press("Enter");
    await alert.waitFor();
    expect(await words.inputValue()).toBe("Not in this folder.");
    await page.getByRole("heading", { name: "Inbox" }).waitFor({ state: "attached" });
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Close" }).press("Enter");
    expect(await alert.count()).toBe(0);
    await page.keyboard.press("?");
    await alert.waitFor();

    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await keys.waitFor();
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await keys.waitFor();
    await page.keyboard.press("Escape");
    expect(await words.inputValue()).toBe("Not in this folder.");
    expect(await isMarked()).toBe(true);
  },
);

withChromium("console: the key of the keys asks again for a dialog that could not be loaded", { timeout: 120_000 }, async () => {
  const { app, page } = await consolePage(OFFICE);
  await signInByKeyboard(page, app, "paul-token", "/console/inbox");
  await page.getByText("Nothing waits for a decision.").waitFor();
  await page.context().setOffline(true);
  await page.keyboard.press("?");
  const alert = page.getByRole("alert").filter({ hasText: "This part could not be loaded." });
  await alert.waitFor();
  await page.context().setOffline(false);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  expect(await alert.count()).toBe(0);
});

withChromium(
  "console: a screen that cannot be loaded leaves the head, the page and the words of an open form",
  { timeout: 120_000 },
  async () => {
    const { app, page } = await consolePage(OFFICE);
    await ask(connect(app.url, "anna-token"), "write a.txt");
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    const alert = page.getByRole("main").getByRole("alert").filter({ hasText: "This part could not be loaded." });
    const again = page.getByRole("button", { name: "Try again" });
    const words = page.getByRole("textbox", { name: "Words for the model" });
    await page.getByRole("button", { name: "Deny …" }).press("Enter");
    await words.fill("Not in this folder.");
    const isMarked = await mark(page);

    await page.context().setOffline(true);
    await page.getByRole("link", { name: "History" }).press("Enter");
    await alert.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // The server is still away.
    await again.press("Enter");
    await alert.waitFor();
    await page.context().setOffline(false);
    await again.press("Enter");
    await page.getByRole("heading", { name: "History" }).waitFor({ state: "attached" });
    expect(await isMarked()).toBe(true);
    await page.goBack();
    await words.waitFor();
    expect(await words.inputValue()).toBe("Not in this folder.");
    await untilSeen(page);

    // Files that a proxy refuses, with their style sheets.
    await page.route(ASSETS, (route) => route.abort());
    await page.getByRole("link", { name: "Agents", exact: true }).press("Enter");
    await alert.waitFor();
    await page.unroute(ASSETS);
    await again.press("Enter");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    expect(await alert.count()).toBe(0);
    const isStyled = (): Promise<boolean> =>
      page.evaluate(() =>
        [...document.styleSheets].some(({ href, cssRules }) => /agents/.test(href ?? "") && cssRules.length > 0),
      );
    expect(await isStyled()).toBe(true);
    expect(await isMarked()).toBe(true);
  },
);
