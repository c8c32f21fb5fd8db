import type { Page } from "playwright-core";
import { expect } from "vitest";
import { connect } from "../support/client.ts";
import { consolePage } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";

/** Failures that people report of other consoles. */

const SCRIPT = {
  replies: [
    { when: { user: "^run" }, call: [{ tool: "bash_run", input: { command: "make build" } }] },
    { when: {}, say: ["Done."] },
  ],
};
const LONG_WORD = "Donaudampfschifffahrtsgesellschaft".repeat(5);
/** 1,280 px at a zoom of 400 %, as WCAG 1.4.10 asks for. */
const ZOOMED = { width: 320, height: 800 };

/** The Enter that ends a composition, as Safari tells it: after the composition, with the code of an input method. */
const endOfComposition = (page: Page) =>
  page.evaluate(() =>
    document.activeElement?.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }),
    ),
  );

withChromium("console: the Enter of an input method sends nothing, in Safari's order, too", { timeout: 60_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  await open(`/console/agents/${id}`);
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill("你好");
  await message.focus();
  await endOfComposition(page);
  await page.keyboard.type("吗");
  expect(await message.inputValue()).toBe("你好吗");
  await message.press("Enter");
  const sent = page.locator(".item.message .words");
  await sent.filter({ hasText: "你好吗" }).waitFor();
  expect(await sent.allInnerTexts()).toEqual(["你好吗"]);
  await open("/console/audit");
  const tool = page.getByLabel("Tool", { exact: true });
  await tool.fill("工具");
  await tool.focus();
  await endOfComposition(page);
  expect(new URL(page.url()).searchParams.get("tool")).toBe(null);
  await tool.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("tool")).toBe("工具");
});

withChromium("console: a pause after a space keeps the space in a search", { timeout: 60_000 }, async () => {
  const { page, open } = await consolePage({ script: SCRIPT });
  await open("/console/inbox");
  await page.getByText("Nothing waits for a decision.").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("make ");
  await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBe("make");
  await page.keyboard.type("build");
  expect(await page.getByRole("searchbox").inputValue()).toBe("make build");
  await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBe("make build");
});

withChromium("console: times are right in a browser whose clock is wrong", { timeout: 60_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "Runner" });
  await client.send(id, "run");
  await client.until(id, "PERMISSION_REQUIRED");
  await page.clock.setSystemTime(Date.now() - 3 * 24 * 3_600_000);
  await open("/console/inbox");
  const row = page.locator(".queue-row").filter({ hasText: "Runner" });
  await row.waitFor();
  expect(await row.locator("time").innerText()).toMatch(/sec\. ago|now/);
});

withChromium("console: a chosen theme is there before the page's scripts", { timeout: 60_000 }, async () => {
  const { page, open } = await consolePage({ script: SCRIPT });
  await page.emulateMedia({ colorScheme: "light" });
  await open("/console/inbox");
  await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const held = Promise.withResolvers<void>();
  await page.route("**/assets/*.js", async (route) => {
    await held.promise;
    await route.continue();
  });
  const opened = page.reload();
  await page.waitForFunction(() => document.styleSheets.length > 0);
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark);
  held.resolve();
  await opened;
});

withChromium("console: long words, Arabic, zoom and paper", { timeout: 90_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: LONG_WORD });
  await client.turn(id, `hello ${LONG_WORD}`);
  await client.turn(id, "مرحبا بالعالم");
  for (let turn = 0; turn < 12; turn += 1) await client.turn(id, `hello ${turn}`);
  await client.send(id, "run");
  await client.until(id, "PERMISSION_REQUIRED");
  await page.setViewportSize(ZOOMED);
  const paths = [
    "/inbox",
    "/agents",
    `/agents/${id}`,
    `/agents/${id}?view=timeline`,
    "/history",
    "/audit",
    "/policy",
    "/operations",
  ];
  for (const path of paths) {
    await open(`/console${path}`);
    await page.getByRole("main").waitFor();
    await page.locator("main .skeleton").first().waitFor({ state: "detached" });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, `${path} needs no scrolling aside`).toBeLessThanOrEqual(ZOOMED.width);
  }
  await page.setViewportSize({ width: 1_280, height: 600 });
  await open(`/console/agents/${id}`);
  const conversation = page.getByRole("group", { name: "Conversation" });
  await conversation.getByText("hello 11", { exact: true }).waitFor();
  const arabic = conversation.getByText("مرحبا بالعالم", { exact: true });
  // Its line begins at the right.
  const [line, box] = await arabic.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return [range.getBoundingClientRect().left, element.getBoundingClientRect().left];
  });
  expect(line).toBeGreaterThan((box ?? 0) + 40);
  await page.emulateMedia({ media: "print" });
  const { whole, shown } = await conversation.evaluate((element) => ({
    whole: element.scrollHeight,
    shown: element.clientHeight,
  }));
  expect(shown).toBe(whole);
  const paper = await page.pdf();
  expect(paper.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(1);
});
