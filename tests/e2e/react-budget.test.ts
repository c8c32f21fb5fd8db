import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { startTestApp } from "../support/app.ts";
import { openPage, screenshot } from "../support/browser.ts";
import { PRICE, spends } from "../support/budgets.ts";
import { inBrowser, send, serve } from "../support/example-app.ts";
import { playedModel } from "../support/models.ts";

inBrowser("examples/%s: a question about a budget, raised to another limit", { timeout: 60_000 }, async (app) => {
  const server = await startTestApp({
    model: { ...playedModel(spends), price: PRICE },
    template: { tools: [], budgets: [{ per: "AGENT", usd: 0.15 }] },
  });
  await mkdir(join(server.workspace, "examples/workspace"), { recursive: true });
  const { page, complaints } = await openPage();
  await page.goto(await serve(app, server.url));
  await send(page, "go");
  const conversation = page.getByRole("list", { name: "Conversation" });
  await conversation.getByText("Yes.").waitFor();
  await send(page, "go on");
  const form = page.getByRole("form", { name: "Raise the budget" });
  await form.waitFor();
  await page.getByText("May the budget be raised?").waitFor();
  await page.getByText("$0.1000 of $0.1500").waitFor();
  await screenshot(page, `${app}-budget`);
  await form.getByLabel("Raise to (US dollars)").fill("0.75");
  await form.getByRole("button", { name: "Raise" }).click();
  await conversation.getByText("Yes.").nth(1).waitFor();
  const text = "SELECT raised_millionths::float8 AS raised FROM budget_period";
  const rows = await server.database.sql.query<{ raised: number }, []>({ name: "", text }, []);
  expect(rows).toEqual([{ raised: 750_000 }]);
  expect(complaints).toEqual([]);
});
