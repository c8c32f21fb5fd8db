import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Locator, Page, Request } from "playwright-core";
import { expect } from "vitest";
import { startTestApp, type TestApp, type TestAppOptions } from "./app.ts";
import { openPage, screenshot } from "./browser.ts";
import { builtConsole } from "./built-console.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

type AxeRun = { readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[] };

/** The violations of accessibility on the page as it stands, by their rules. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  // The policy of the page allows no script but its own: the check comes from outside of the page.
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations: found } = (await page.evaluate("axe.run()")) as AxeRun;
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** A server with the built console, and a page of it. */
export type ConsolePage = {
  readonly app: TestApp;
  readonly page: Page;
  /** Errors and warnings in the browser's log. A refused sign-in is one. */
  readonly complaints: readonly string[];
  /** Requests to other origins. */
  readonly foreign: readonly string[];
  readonly open: (path: string) => Promise<void>;
};

export async function consolePage(options: TestAppOptions): Promise<ConsolePage> {
  const folder = await builtConsole();
  const app = await startTestApp({ ...options, overrides: { ...options.overrides, console: () => ({ kind: "built", folder }) } });
  const { page, complaints } = await openPage();
  await page.setViewportSize({ width: 1_440, height: 900 });
  const origin = new URL(app.url).origin;
  const foreign: string[] = [];
  page.on("request", (request: Request) => {
    if (new URL(request.url()).origin !== origin) foreign.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  const open = async (path: string): Promise<void> => void (await page.goto(new URL(path, origin).href));
  return { app, page, complaints, foreign, open };
}

/** A page in another browser, which shares no cookie with the first one. */
export async function anotherBrowser(page: Page): Promise<Page> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser");
  const other = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  other.setDefaultTimeout(15_000);
  return other;
}

/** Opens a page of the console, and signs in there with a token. */
export async function signInByKeyboard(page: Page, app: TestApp, token: string, path: string): Promise<void> {
  await page.goto(new URL(path, app.url).href);
  // The form has the focus.
  await page.getByLabel("Access token").waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Audit" }).waitFor();
}

/** The most keys from one end of a screen to the other. */
const MOST_TABS = 80;

/** Moves the focus to an element by the Tab key alone. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("the Tab key does not lead there");
}

/** Waits until the present question was in view for a moment: before, no key or click answers it. */
export async function untilSeen(page: Page): Promise<void> {
  const seenMs = Number(await page.evaluate("performance.now()"));
  await expect.poll(async () => Number(await page.evaluate("performance.now()"))).toBeGreaterThan(seenMs + 500);
}

const WIDTHS = [360, 1_440];
const THEMES = ["light", "dark"] as const;

/** Pictures of a page in both themes, narrow and wide, in the folder that SCREENSHOTS names. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (process.env["SCREENSHOTS"] === undefined) return;
  const size = page.viewportSize();
  for (const width of WIDTHS)
    for (const colorScheme of THEMES) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `${name}-${width}-${colorScheme}`);
    }
  await page.emulateMedia({ colorScheme: null });
  if (size !== null) await page.setViewportSize(size);
}
