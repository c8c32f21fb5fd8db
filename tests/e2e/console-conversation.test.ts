import { expect } from "vitest";
import type { Locator } from "playwright-core";
import { openPage } from "../support/browser.ts";
import { builtConsole } from "../support/built-console.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { tell } from "../support/notices.ts";
import { withChromium } from "../support/example-app.ts";
import { startServerProcess } from "../support/server-process.ts";
import { defineTool, Type } from "../../src/triplane.ts";

const swallow = defineTool({
  name: "swallow",
  description: "Takes a text.",
  readOnly: true,
  inputSchema: Type.Object({ text: Type.String() }),
  run: () => "eaten",
});

/** The place of an element on the screen; px. */
const topOf = (element: Locator): Promise<number> => element.evaluate((found) => found.getBoundingClientRect().top);

withChromium("console: earlier items come above those in view, which stay where they are", { timeout: 120_000 }, async () => {
  const pattern = (index: number): string => `file-${index}-*`;
  const { app, page, complaints, open } = await consolePage({
    script: {
      replies: [
        ...[0, 1, 2, 3].map((part) => ({
          when: { user: `^part ${part}$` },
          call: Array.from({ length: 60 }, (_none, index) => ({
            tool: "fs_glob",
            input: { pattern: pattern(part * 60 + index) },
          })),
        })),
        { when: {}, say: ["Done."] },
      ],
    },
    template: { permission: { mode: "auto" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  for (const part of [0, 1, 2, 3]) await client.turn(id, `part ${part}`);
  await open(`/console/agents/${id}`);
  const conversation = page.getByRole("group", { name: "Conversation" });
  const itemOf = (index: number): Locator => conversation.locator(".item", { hasText: `"${pattern(index)}"` });
  await itemOf(239).waitFor();
  await conversation.press("Home");
  await expect.poll(() => conversation.evaluate((found) => found.scrollTop)).toBe(0);
  // Of 4 turns with 62 items each, the newest 200 are shown.
  const kept = itemOf(47);
  expect(await conversation.locator(".items > li").first().textContent()).toContain(pattern(47));
  const before = await topOf(kept);
  await page.getByRole("button", { name: "earlier ones" }).press("Enter");
  await itemOf(0).waitFor({ state: "attached" });
  expect(Math.abs((await topOf(kept)) - before)).toBeLessThan(3);
  expect(await conversation.evaluate((found) => found === document.activeElement)).toBe(true);
  // What is read stays in view while the agent goes on.
  const read = itemOf(20).first();
  await read.scrollIntoViewIfNeeded();
  const place = await topOf(read);
  await client.turn(id, "part 0");
  await expect.poll(() => conversation.locator(".items > li").count()).toBeGreaterThan(300);
  expect(Math.abs((await topOf(read)) - place)).toBeLessThan(3);
  expect(complaints).toEqual([]);
});

withChromium("console: a server that is killed and started again goes on under the open page", { timeout: 180_000 }, async () => {
  await builtConsole();
  const env = { TRIPLANE_DATA_DIR: await embeddedFolder() };
  const first = await startServerProcess(env);
  const client = connect(first.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "ask me");
  const { page } = await openPage();
  await page.goto(new URL(`/console/agents/${agent.id}`, first.url).href);
  const answer = page.getByRole("region", { name: "Answer ask_user" });
  await answer.getByRole("textbox").fill("the README");
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  first.child.kill("SIGKILL");
  await first.exited;
  const head = page.getByRole("banner");
  await head.getByText("live", { exact: true }).waitFor({ state: "detached" });
  // An answer that cannot be sent stays in the form.
  await answer.getByRole("button", { name: "Send the result" }).press("Enter");
  await answer.getByRole("alert").waitFor();
  const second = await startServerProcess({ ...env, PORT: new URL(first.url).port });
  await head.getByText("live", { exact: true }).waitFor({ timeout: 30_000 });
  expect(await answer.getByRole("textbox").inputValue()).toBe("the README");
  await answer.getByRole("button", { name: "Send the result" }).press("Enter");
  await answer.waitFor({ state: "detached" });
  await connect(second.url).until(agent.id, "DONE");
  await page.getByRole("group", { name: "Conversation" }).getByText("You said: the README").waitFor();
  await page.getByRole("link", { name: "Timeline" }).press("Enter");
  await page.getByRole("listbox", { name: "Timeline of the agents" }).getByRole("option", { name: "ready" }).waitFor();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
});

withChromium("console: an input of 1 MB is drawn part by part", { timeout: 60_000 }, async () => {
  const word = "word and more\n";
  const text = word.repeat(75_000);
  const { app, page, complaints, open } = await consolePage({
    config: { tools: [swallow] },
    script: {
      replies: [
        { when: { user: "^eat" }, call: [{ tool: "swallow", input: { text } }] },
        { when: {}, say: ["Done."] },
      ],
    },
    template: { permission: { mode: "auto" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  await client.turn(id, "eat it");
  await open(`/console/agents/${id}`);
  await page.locator("details.call summary").press("Enter");
  const input = page.getByRole("group", { name: "Input", exact: true });
  await input.waitFor();
  for (let presses = 0; presses < 5; presses += 1) await page.getByRole("button", { name: "Next part" }).press("Enter");
  expect((await input.innerText()).length).toBeLessThan(70_000);
  await page.getByRole("button", { name: "Last part" }).press("Enter");
  await input.filter({ hasText: "}" }).waitFor();
  expect((await input.innerText()).length).toBeLessThan(70_000);
  expect(await axeViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

withChromium(
  "console: notices are listed with their subjects and the steps that told them, live",
  { timeout: 120_000 },
  async () => {
    const { app, page, complaints, open } = await consolePage({});
    const client = connect(app.url);
    const { id } = await client.createAgent({});
    const texts = Array.from({ length: 23 }, (_, index) => ["FILE", `file-${index}`, `The file ${index} has changed.`] as const);
    await tell(app.database.sql, id, ...texts);
    await tell(app.database.sql, id, ["SHELL", "shell", "It ended.\u202e <b>bold</b>"]);
    await open(`/console/agents/${id}`);
    const standing = page.getByRole("complementary", { name: "Standing" });
    await standing.locator("summary").filter({ hasText: "Notices 24" }).press("Enter");
    const rows = standing.locator(".notices > li");
    await expect.poll(() => rows.count()).toBe(20);
    const shell = rows.filter({ hasText: "shell" });
    await shell.getByText("told at the next step").waitFor();
    // Neither does a text of the server turn its line round, nor is it HTML.
    await shell.getByText("It ended.\\u202e <b>bold</b>").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await standing.getByRole("button", { name: "Show more" }).press("Enter");
    await expect.poll(() => rows.count()).toBe(24);
    await rows.filter({ hasText: "The file 0 has changed." }).getByText("file", { exact: true }).waitFor();
    await client.turn(id, "hello");
    await shell.getByText("told at step 1").waitFor();
    await expect.poll(() => rows.getByText("told at the next step").count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);
