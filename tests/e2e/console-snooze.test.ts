import type { Page } from "playwright-core";
import { expect } from "vitest";
import { connect } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { anotherBrowser, axeViolations, consolePage, pictures, signInByKeyboard } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";

const HOUR_MS = 60 * 60_000;

async function title(page: Page, expected: string): Promise<void> {
  await expect.poll(() => page.title(), { timeout: 10_000 }).toBe(expected);
}

withChromium(
  "console: a question is put off by keys in all tabs of one person, and comes back; its end meanwhile is said",
  { timeout: 90_000 },
  async () => {
    const clock = movableClock();
    const { app, page, open, complaints } = await consolePage({
      config: ACTORS,
      script: SCRIPT,
      template: { selfApproval: false, approvalExpiresMs: 2 * HOUR_MS },
      overrides: { clock },
    });
    const anna = connect(app.url, "anna-token");
    await ask(anna, "write a.txt");
    const { approvalId } = await ask(anna, "write b.txt");
    const other = await anotherBrowser(page);
    for (const each of [page, other]) await signInByKeyboard(each, app, "paul-token", "/console/inbox");
    await title(page, "(2) Triplane");
    await title(other, "(2) Triplane");

    await open(`/console/inbox/${approvalId}`);
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Snooze until" });
    await dialog.waitFor();
    expect(await dialog.getByText("expires before").count()).toBe(2);
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-snooze");
    await page.keyboard.press("1");
    await dialog.waitFor({ state: "detached" });
    await title(page, "(1) Triplane");
    await title(other, "(1) Triplane");

    await other.bringToFront();
    await other.keyboard.press("g");
    await other.keyboard.press("s");
    await other.getByText("put off, returns").waitFor();
    expect(await axeViolations(other)).toEqual([]);
    await pictures(other, "console-snoozed");
    await other.keyboard.press("w");
    await other.getByText("You have put nothing off.").waitFor();
    await title(other, "(2) Triplane");
    await title(page, "(2) Triplane");

    // A page that stays open shows it again at its time.
    await other.clock.install();
    await other.goto(new URL(`/console/inbox/${approvalId}`, app.url).href);
    await other.getByRole("button", { name: "Allow once" }).waitFor();
    await other.keyboard.press("s");
    await other.getByRole("dialog", { name: "Snooze until" }).waitFor();
    await other.keyboard.press("1");
    await title(other, "(1) Triplane");
    await other.clock.fastForward("01:00:30");
    await title(other, "(2) Triplane");
    await other.getByText("back", { exact: true }).waitFor();

    await page.bringToFront();
    await open(`/console/inbox/${approvalId}`);
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await page.keyboard.press("s");
    await dialog.waitFor();
    await page.keyboard.press("2");
    await title(page, "(1) Triplane");
    await clock.passHours(3, [app.database]);
    const missed = page.getByRole("alert").filter({ hasText: "It expired while you had put it off:" });
    await missed.waitFor();
    await title(page, "Triplane");
    await missed.getByRole("button", { name: "Close" }).press("Enter");
    await missed.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  },
);
