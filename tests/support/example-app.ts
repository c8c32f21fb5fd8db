import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { inject, it, onTestFinished, vi } from "vitest";
import { build, preview } from "vite";
import { chromiumPath } from "./browser.ts";

const builds = new Map<string, Promise<string>>();

/** The folder of the app, built as its users would, once for all tests. */
function built(app: string, root: string): Promise<string> {
  const outDir = join(inject("runFolder"), app);
  const building = builds.get(app) ?? build({ root, logLevel: "error", build: { outDir, emptyOutDir: true } }).then(() => outDir);
  builds.set(app, building);
  return building;
}

/** Serves the app before the server at `url`. */
export async function serve(app: string, url: string): Promise<string> {
  const root = fileURLToPath(new URL(`../../examples/${app}`, import.meta.url));
  const outDir = await built(app, root);
  vi.stubEnv("TRIPLANE_URL", new URL(url).origin);
  const server = await preview({ root, logLevel: "error", build: { outDir }, preview: { port: 0, host: "127.0.0.1" } });
  onTestFinished(() => server.close());
  const [address] = server.resolvedUrls?.local ?? [];
  if (address === undefined) throw new Error("the app is not served");
  return address;
}

/** A test in Chromium. Continuous integration installs Chromium: there the tests always run. */
export const withChromium = it.skipIf(chromiumPath === null && process.env["CI"] === undefined);

/** A test of both apps. */
export const inBrowser = withChromium.for(["react-apollo", "react-urql"]);

/** The browser of the page: another page of it has a storage of its own. */
export function browserOf(page: Page): Browser {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser");
  return browser;
}

/** Sends a message to the agent of the page. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}
