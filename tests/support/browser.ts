import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** The first is without windows: a page costs an eighth of the CPU time. */
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The Chromium of this machine; CHROMIUM_PATH names another one. Null if there is none. */
export const chromiumPath = process.env["CHROMIUM_PATH"] ?? CHROMIUM.find((path) => existsSync(path)) ?? null;

/** The browser of all tests of this process, which ends it. */
let running: Promise<Browser> | null = null;

function launched(): Promise<Browser> {
  if (chromiumPath === null)
    throw new Error("there is no Chromium: install Debian's package chromium-headless-shell, or set CHROMIUM_PATH");
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/**
 * A page with storage, cookies and cache of its own, which go with all other pages when the test ends. What the page logs
 * as an error fails the test.
 */
export async function openPage(): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  if (running === null || !(await running).isConnected()) running = launched();
  const browser = await running;
  onTestFinished(async () => void (await Promise.all(browser.contexts().map((context) => context.close()))));
  const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(30_000);
  return { page, complaints };
}

/** Collects the violations of the pages' Content-Security-Policies from now on. The returned function reads them. */
export async function policyViolations(page: Page): Promise<() => Promise<readonly string[]>> {
  const found: string[] = [];
  await page.exposeFunction("tellViolation", (text: string) => void found.push(text));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) => {
      (window as unknown as { tellViolation: (text: string) => void }).tellViolation(
        `${effectiveDirective} ${blockedURI} ${sample}`,
      );
    });
  });
  // A call into the page comes after the events that the page has told before.
  return async () => {
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)));
    return found;
  };
}

/** Keeps a picture of the page in the folder that SCREENSHOTS names; does nothing without one. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
