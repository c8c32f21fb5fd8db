import { expect } from "vitest";
import { screenshot } from "../support/browser.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { TEAM } from "../support/scripted-team.ts";

withChromium("console: a tree is watched on its timeline and interrupted, by keyboard", { timeout: 90_000 }, async () => {
  const { app, page, complaints, open } = await consolePage(TEAM);
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "Team" });
  await open(`/console/agents/${id}`);
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("split the work");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Timeline" }).focus();
  await page.keyboard.press("Enter");
  const chart = page.getByRole("listbox", { name: "Timeline of the agents" });
  const lanes = chart.getByRole("option");
  // The lead, three workers, and the worker below the last of them: it and the second ask.
  await expect.poll(() => lanes.count(), { timeout: 20_000 }).toBe(5);
  await lanes.filter({ hasText: "look around" }).waitFor();
  const labels = async () => Promise.all((await lanes.all()).map((lane) => lane.getAttribute("aria-label")));
  // Children come in the order of their starts, which is not that of their calls.
  await expect
    .poll(async () => (await labels()).map((label) => label?.split(";")[0] ?? "").toSorted(), { timeout: 20_000 })
    .toEqual([
      "assistant: level 0, waits",
      "worker delegate b.txt: level 1, waits",
      "worker look around: level 1, ready",
      "worker write a.txt: level 1, waits",
      "worker write b.txt: level 2, waits",
    ]);
  expect(await axeViolations(page)).toEqual([]);
  await chart.focus();
  const said = page.locator(".timeline-said").getByRole("status");
  while (!(await said.innerText()).startsWith("worker write b.txt")) await page.keyboard.press("ArrowDown");
  await said.filter({ hasText: "waits: 1" }).waitFor();
  await page.keyboard.press("End");
  await said.filter({ hasText: "wait fs_write" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await said.filter({ hasText: "step 1" }).waitFor();
  await page.getByRole("table").getByRole("cell", { name: "fs_write", exact: true }).first().waitFor();
  await screenshot(page, "console-timeline");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "worker" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Interrupt the tree" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await labels()).every((label) => label?.includes("ready")), { timeout: 20_000 }).toBe(true);
  expect((await client.agent(id)).state).toBe("READY");
  expect(complaints).toEqual([]);
});

withChromium("console: the timeline of 61 agents keeps few rows in the page", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage(TEAM);
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "Many" });
  await client.send(id, "start 60");
  await open(`/console/agents/${id}?view=timeline`);
  const chart = page.getByRole("listbox", { name: "Timeline of the agents" });
  const lanes = chart.getByRole("option");
  await lanes.first().waitFor();
  await expect.poll(() => lanes.first().getAttribute("aria-setsize"), { timeout: 60_000 }).toBe("61");
  expect(await lanes.count()).toBeLessThanOrEqual(40);
  await chart.focus();
  for (let presses = 0; presses < 60; presses += 1) await page.keyboard.press("ArrowDown");
  const last = chart.locator('[aria-posinset="61"]');
  await expect.poll(() => last.getAttribute("aria-selected")).toBe("true");
  await expect.poll(() => last.isVisible()).toBe(true);
  expect(await lanes.count()).toBeLessThanOrEqual(40);
  await screenshot(page, "console-timeline-many");
  expect(complaints).toEqual([]);
});
