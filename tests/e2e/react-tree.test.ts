import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { openPage, screenshot } from "../support/browser.ts";
import { inBrowser, send, serve } from "../support/example-app.ts";
import { startTeam } from "../support/scripted-team.ts";
import { ownTool } from "../support/tools.ts";

inBrowser(
  "examples/%s: the agents that calls started, with their states and questions, decided from the parent's conversation, opened and left by keyboard",
  { timeout: 90_000 },
  async (app) => {
    const server = await startTeam();
    await mkdir(join(server.workspace, "examples/workspace"), { recursive: true });
    const { page, complaints } = await openPage();
    await page.goto(await serve(app, server.url));
    const conversation = page.getByRole("list", { name: "Conversation" });
    const child = (name: string) => page.getByRole("region", { name: `Agent: ${name}`, exact: true });
    await send(page, "split the work");
    await child("look around").getByText("There is a folder.").waitFor();
    await child("write a.txt").getByText("asks", { exact: true }).waitFor();
    const questions = page.getByRole("region", { name: "Questions of other agents" });
    await questions.getByText("2 questions of other agents").waitFor();
    // What a child has started stands below it.
    await child("delegate b.txt")
      .getByRole("region", { name: "Agent: write b.txt" })
      .getByText("asks", { exact: true })
      .waitFor();
    const paths = await questions.locator(".path").allInnerTexts();
    expect(paths.toSorted()).toEqual(["delegate b.txt › write b.txt", "write a.txt"]);
    await screenshot(page, `${app}-tree`);

    await page.reload();
    const ofDeep = page.getByRole("region", { name: "Approval for delegate b.txt, write b.txt" });
    await ofDeep.getByRole("button", { name: "Allow", exact: true }).click();
    await child("delegate b.txt").getByText("done", { exact: true }).first().waitFor();
    await child("delegate b.txt").getByText("A worker said: It is written.", { exact: true }).waitFor();
    await questions.getByText("1 question of other agents").waitFor();

    // By keyboard: open the child, read, decide there, and go back.
    await child("write a.txt").getByRole("button", { name: "Open: write a.txt" }).focus();
    await page.keyboard.press("Enter");
    const back = page.getByRole("navigation", { name: "Agents above" });
    await back.getByText("write a.txt").waitFor();
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.tagName ?? "");
    await expect.poll(focused).toBe("H1");
    await page.getByRole("region", { name: "Approval", exact: true }).waitFor();
    await screenshot(page, `${app}-tree-child`);
    await page.reload();
    await back.getByText("write a.txt").waitFor();
    await page.getByRole("region", { name: "Approval", exact: true }).getByRole("button", { name: "Allow", exact: true }).click();
    await conversation.getByText("It is written.").waitFor();
    await back.getByRole("button", { name: "Back to assistant" }).focus();
    await page.keyboard.press("Enter");
    await conversation.getByText("A worker said:").last().waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    const states = (): Promise<string[]> => conversation.locator("section.child .head strong").allInnerTexts();
    await expect.poll(states).toEqual(["done", "done", "done", "done"]);
    expect(await page.getByRole("navigation", { name: "Agents above" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: failed, interrupted and background children, and sixty at work on a narrow screen",
  { timeout: 90_000 },
  async (app) => {
    const think = ownTool("think", () => new Promise(() => {}));
    const server = await startTeam({ config: { tools: [think] } });
    await mkdir(join(server.workspace, "examples/workspace"), { recursive: true });
    const { page, complaints } = await openPage();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(await serve(app, server.url));
    const child = (name: string) => page.getByRole("region", { name: `Agent: ${name}`, exact: true });
    await send(page, "fail and think");
    await child("fail").getByText("failed", { exact: true }).waitFor();
    await child("fail").getByText("I begin.").waitFor();
    await child("think").getByText("works …", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await child("think").getByText("interrupted", { exact: true }).waitFor();

    await send(page, "write in the background");
    await child("write c.txt").getByText("in the background").waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    const questions = page.getByRole("region", { name: "Questions of other agents" });
    await questions.getByRole("button", { name: "Deny" }).click();
    await child("write c.txt").getByText("done", { exact: true }).waitFor();

    await send(page, "start 60");
    await questions.getByText("60 questions of other agents, the first 5 are shown").waitFor();
    expect(await questions.locator(".path").count()).toBe(5);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
    await screenshot(page, `${app}-tree-narrow`);
    for (let left = 60; left > 57; left -= 1) {
      await questions.getByRole("button", { name: "Allow", exact: true }).first().click();
      await questions.getByText(`${left - 1} questions of other agents`).waitFor();
    }
    expect(await page.getByText("done", { exact: true }).count()).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    await expect.poll(() => questions.locator("li").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: one button interrupts all agents in the background below an idle one",
  { timeout: 90_000 },
  async (app) => {
    const server = await startTeam();
    await mkdir(join(server.workspace, "examples/workspace"), { recursive: true });
    const { page, complaints } = await openPage();
    await page.goto(await serve(app, server.url));
    const all = page.getByRole("button", { name: "Stop all agents" });
    const child = page.getByRole("region", { name: "Agent: write c.txt", exact: true });
    await send(page, "write in the background");
    await child.getByText("asks", { exact: true }).waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Interrupt" }).isDisabled()).toBe(true);
    await all.focus();
    await page.keyboard.press("Enter");
    await child.getByText("interrupted", { exact: true }).waitFor();
    await all.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  },
);
