import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { build, preview } from "vite";
import { temporaryFolder } from "../support/app.ts";
import { chromiumPath, openPage, screenshot } from "../support/browser.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { startServerProcess } from "../support/server-process.ts";

/** Builds the app as its users would, and serves it before the server at `url`. */
async function serve(app: string, url: string): Promise<string> {
  const root = fileURLToPath(new URL(`../../examples/${app}`, import.meta.url));
  const outDir = await temporaryFolder();
  vi.stubEnv("TRIPLANE_URL", new URL(url).origin);
  await build({ root, logLevel: "error", build: { outDir, emptyOutDir: true } });
  const server = await preview({ root, logLevel: "error", build: { outDir }, preview: { port: 0, host: "127.0.0.1" } });
  onTestFinished(() => server.close());
  const [address] = server.resolvedUrls?.local ?? [];
  if (address === undefined) throw new Error("the app is not served");
  return address;
}

// Continuous integration installs Chromium: there the test always runs.
it.skipIf(chromiumPath === null && process.env["CI"] === undefined).for(["react-apollo", "react-urql"])(
  "examples/%s: send, stream, tools, a reload while an approval waits, approve, and a server that is killed and comes back",
  { timeout: 90_000 },
  async (app) => {
    const data = { TRIPLANE_DATA_DIR: await embeddedFolder() };
    const server = await startServerProcess(data);
    const { page, complaints } = await openPage();
    await page.goto(await serve(app, server.url));
    await page.getByLabel("Message").fill("Find every TODO and make a todo for each.");
    await page.getByRole("button", { name: "Send" }).click();
    const conversation = page.getByRole("list", { name: "Conversation" });
    await conversation.getByText("I will look for TODO comments").waitFor();
    await conversation.getByText("fs_grep").waitFor();
    const allow = page.getByRole("button", { name: "Allow" });
    await allow.waitFor();
    await screenshot(page, `${app}-asks`);

    const before = await conversation.innerText();
    await page.reload();
    await allow.waitFor();
    await page.getByText("live, working").waitFor();
    expect(await conversation.innerText()).toBe(before);
    await allow.click();
    await conversation.getByText("The list has 3 todos").waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    expect(await conversation.getByText("ALLOW by local").count()).toBe(1);

    server.child.kill("SIGKILL");
    await server.exited;
    await page.getByText("connection lost, trying again").waitFor();
    await startServerProcess({ ...data, PORT: new URL(server.url).port });
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    await page.getByLabel("Message").fill("What is on your todo list?");
    await page.getByRole("button", { name: "Send" }).click();
    await conversation.getByText("This is the list").waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    await screenshot(page, `${app}-done`);
    const texts = await conversation.getByRole("listitem").allInnerTexts();
    expect(texts.filter((text) => text.includes("The list has 3 todos"))).toHaveLength(1);
    expect(texts.filter((text) => text === "What is on your todo list?")).toHaveLength(1);
    expect(complaints).toEqual([]);
  },
);
