import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { TestAppOptions } from "../support/app.ts";
import { screenshot } from "../support/browser.ts";
import { connect, type TestClient } from "../support/client.ts";
import { axeViolations, consolePage, untilSeen, type ConsolePage } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";

/** A page of the console, whose person is the local administrator. */
async function openConsole(options: TestAppOptions): Promise<ConsolePage & { readonly client: TestClient }> {
  const opened = await consolePage(options);
  return { ...opened, client: connect(opened.app.url) };
}

/** An agent that was sent a message. */
async function begin(client: TestClient, text: string, title: string): Promise<string> {
  const { id } = await client.createAgent({ title });
  await client.send(id, text);
  return id;
}

const SCRIPT = {
  replies: [
    { when: { user: "^edit" }, call: [{ tool: "fs_read", input: { path: "a.txt" } }] },
    {
      when: { result: "fs_read" },
      call: [{ tool: "fs_edit", input: { path: "a.txt", old_string: "bad", new_string: "good" } }],
    },
    { when: { user: "^run" }, call: [{ tool: "bash_run", input: { command: "ls && make build" } }] },
    { when: { result: "fs_edit" }, say: ["It is **mended**. See [the docs](https://example.org/docs)."] },
    { when: { result: "bash_run" }, say: ["It said: {{result}}"] },
    { when: {}, say: ["Hello."] },
  ],
};

withChromium(
  "console: an approval is asked, seen, edited, allowed and run, by keyboard alone; another is denied with words",
  { timeout: 120_000 },
  async () => {
    const { app, client, page, complaints, foreign } = await openConsole({ script: SCRIPT });
    await writeFile(join(app.workspace, "a.txt"), "one\nbad\nthree\n");
    await page.goto(new URL("/", app.url).href);
    await page.getByText("Nothing waits for a decision.").waitFor();
    expect(await page.title()).toBe("Triplane");
    expect(await axeViolations(page)).toEqual([]);

    const agentId = await begin(client, "edit it", "Mender");
    await page.getByRole("heading", { name: "wants to change" }).waitFor();
    await expect.poll(() => page.title()).toBe("(1) Triplane");
    await page.getByText("edit it").waitFor();
    const diff = page.getByRole("group", { name: "a.txt" });
    expect(await diff.innerText()).toContain("good");
    await screenshot(page, "console-edit");
    expect(await axeViolations(page)).toEqual([]);

    await page.keyboard.press("e");
    const field = page.getByRole("textbox", { name: "new_string" });
    await field.waitFor();
    for (let tabs = 0; tabs < 5 && !(await field.evaluate((element) => element === document.activeElement)); tabs += 1)
      await page.keyboard.press("Tab");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("better");
    expect(await axeViolations(page)).toEqual([]);
    await untilSeen(page);
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();
    await expect.poll(() => readFile(join(app.workspace, "a.txt"), "utf8")).toBe("one\nbetter\nthree\n");

    await begin(client, "run it", "Runner");
    await page.getByRole("heading", { name: "wants to run a command" }).waitFor();
    expect(await page.locator("mark").allInnerTexts()).toContain("make build");
    await page.getByText("make build is not known").first().waitFor();
    await page.keyboard.press("d");
    await page.keyboard.type("Build it by hand.");
    await untilSeen(page);
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.getByRole("link", { name: "History" }).click();
    await page.getByText("Build it by hand.").waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await page.goto(new URL(`/console/agents/${agentId}`, app.url).href);
    await page.getByText("mended").waitFor();
    expect(await page.getByRole("link", { name: "the docs (example.org)" }).getAttribute("rel")).toContain("noopener");
    await page.locator("summary", { hasText: "fs_edit" }).click();
    await page.getByText("Input that ran").waitFor();
    await screenshot(page, "console-agent");
    expect(await axeViolations(page)).toEqual([]);
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
  },
);

withChromium(
  "console: an agent is begun and written to, and a person who was faster is shown",
  { timeout: 120_000 },
  async () => {
    const { app, client, page, complaints, foreign } = await openConsole({ script: SCRIPT });
    await writeFile(join(app.workspace, "a.txt"), "bad\n");
    await page.goto(new URL("/console/agents", app.url).href);
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("First message").fill("hello");
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Hello.").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("edit it");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Open the question" }).click();
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect((await client.decide({ approvalId: id, decision: "DENY" })).userErrors).toEqual([]);
    await page.getByText("local has decided it.").waitFor();
    expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(0);
    await page.goto(new URL("/console/agents", app.url).href);
    await page.getByRole("table").getByRole("link").first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("Language").selectOption("zh");
    await page.getByRole("heading", { name: "智能体" }).waitFor();
    await page.getByRole("button", { name: "新建智能体" }).waitFor();
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
  },
);
