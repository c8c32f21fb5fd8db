import { expect } from "vitest";
import { PRICE, spends } from "../support/budgets.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { playedModel } from "../support/models.ts";

withChromium("console: a budget is raised by keyboard alone, and the focus stays near", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({
    model: { ...playedModel(spends), price: PRICE },
    template: { tools: [], budgets: [{ per: "AGENT", usd: 0.15 }] },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent({ title: "Spender" });
  await client.turn(agentId, "go");
  await client.send(agentId, "go on");
  await open("/console");
  const usd = page.getByLabel("Raise to (US dollars)");
  await usd.waitFor();
  await page.keyboard.press("e");
  expect(await usd.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("0.01");
  await page.keyboard.press("Control+Enter");
  await page.getByText("must be at least the present limit").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("must be at least the present limit").waitFor();
  // The button was disabled meanwhile. It has the focus again.
  await page.locator("button:focus", { hasText: "Raise" }).waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("0.75");
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  await page.getByText("Nothing waits for a decision.").waitFor();
  expect(complaints).toEqual([]);
});

withChromium("console: Ctrl Enter starts an agent, and commands leave the focus at the agent", { timeout: 120_000 }, async () => {
  const { page, complaints, open } = await consolePage({ script: { replies: [{ when: {}, say: ["Done."] }] } });
  await open("/console/agents");
  await page.getByRole("button", { name: "New agent" }).press("Enter");
  await page.getByRole("textbox", { name: "Title" }).fill("First");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: /First/ }).waitFor();
  await page.getByRole("button", { name: "Rename" }).press("Enter");
  await page.keyboard.type(" one");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /First one/ }).waitFor();
  await page.locator(".actions:focus").waitFor();
  expect(complaints).toEqual([]);
});
