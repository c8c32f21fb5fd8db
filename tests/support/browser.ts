import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The Chromium of this machine; CHROMIUM_PATH names another one. Null if there is none. */
export const chromiumPath = process.env["CHROMIUM_PATH"] ?? CHROMIUM.find((path) => existsSync(path)) ?? null;

/** A page of a browser of the test's own. What the page logs as an error fails the test. */
export async function openPage(): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  if (chromiumPath === null) throw new Error("there is no Chromium: install Debian's package chromium, or set CHROMIUM_PATH");
  const browser = await chromium.launch({
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
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(15_000);
  return { page, complaints };
}

/** Keeps a picture of the page in the folder that SCREENSHOTS names; does nothing without one. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
