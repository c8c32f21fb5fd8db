import { expect } from "vitest";
import { defineTool, Type } from "../../src/triplane.ts";
import { PRICE, spends } from "../support/budgets.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { playedModel } from "../support/models.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";
import { TEAM } from "../support/scripted-team.ts";

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
  await untilSeen(page);
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
  await page.getByRole("button", { name: "Archive" }).press("Enter");
  await page.getByRole("button", { name: "Restore" }).press("Enter");
  await page.getByRole("button", { name: "Archive" }).waitFor();
  expect(complaints).toEqual([]);
});

withChromium("console: another person sees an edit beside the model's input", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({ config: ACTORS, script: SCRIPT, template: { selfApproval: false } });
  const { approvalId, inputHash } = await ask(connect(app.url, "anna-token"), "write a.txt");
  const input = { path: "a.txt", content: "other words" };
  await connect(app.url, "paul-token").decide({ approvalId, decision: "ALLOW", inputHash, input });
  await signInByKeyboard(page, app, "petra-token", "/console/inbox");
  const edit = page.getByRole("region", { name: "The edit" });
  await edit.getByText("other words").waitFor();
  expect(await edit.innerText()).toMatch(/content\s+text\s+other words/);
  expect(await axeViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

withChromium("console: the question of an agent below names its person and the agent above", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage(TEAM);
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "Team" });
  await client.send(id, "split the work");
  await open("/console");
  await page.locator(".queue-row", { hasText: "write a.txt" }).click();
  const origin = page.getByRole("region", { name: "How it came about" });
  await origin.getByText("split the work").waitFor();
  await origin.getByText("assistant “Team” ·").waitFor();
  expect(await origin.innerText()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  expect(complaints).toEqual([]);
});

withChromium("console: the present rules judge a call that is named by the end of its id", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({ script: SCRIPT });
  await ask(connect(app.url), "write a.txt");
  await open("/console/audit");
  await page.getByRole("button", { name: "fs_write" }).press("Enter");
  const id = await page.locator("dd", { hasText: /^[0-9a-f]{8}-/ }).innerText();
  await page.getByRole("link", { name: "The verdict of the present rules" }).press("Enter");
  const answer = page.getByRole("status").filter({ hasText: "templates.assistant.permission" });
  await answer.waitFor();
  const call = page.getByRole("textbox", { name: "Id of a recorded call" });
  expect(await call.inputValue()).toBe(id);
  await call.fill("ffffffff");
  await page.keyboard.press("Enter");
  await page.getByRole("status").locator(".alert").waitFor();
  await call.fill(id.slice(-8));
  await page.keyboard.press("Enter");
  await answer.waitFor();
  expect(complaints).toEqual([]);
});

const pay = defineTool({
  name: "pay",
  description: "Pays an invoice.",
  readOnly: false,
  inputSchema: Type.Object({
    iban: Type.String({ title: "Account", description: "The IBAN." }),
    euros: Type.Number(),
    isUrgent: Type.Optional(Type.Boolean()),
  }),
  run: () => ({ output: "paid" }),
});

withChromium(
  "console: the input of a flat schema is shown by its fields, and the history names it",
  { timeout: 120_000 },
  async () => {
    const input = { iban: "NL91\u202eABNA", euros: 120.5 };
    const { app, page, complaints, open } = await consolePage({
      script: {
        replies: [
          { when: { user: "^pay" }, call: [{ tool: "pay", input }] },
          { when: {}, say: ["Paid."] },
        ],
      },
      config: { tools: [pay] },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent({});
    await client.send(id, "pay it");
    await open("/console");
    const fields = page.locator(".input-fields");
    await fields.getByText("Account").waitFor();
    expect(await fields.innerText()).toMatch(/Account iban\s+NL91\\u202eABNA\s+The IBAN\.\s+euros\s+120\.5$/);
    await page.getByText("The whole input").press("Enter");
    await page.getByText('"euros": 120.5').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Deny …" }).press("Enter");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();
    await open("/console/history");
    await page.getByRole("row").filter({ hasText: "pay" }).getByText("NL91").waitFor();
    for (const screen of ["history", "audit", "audit?view=decisions"]) {
      await open(`/console/${screen}`);
      await page.getByRole("row").filter({ hasText: "pay" }).waitFor();
      await page.keyboard.press("j");
      await page.locator(":focus", { hasText: "pay" }).waitFor();
    }
    const second = await client.createAgent({ title: "Second" });
    await open("/console/agents");
    await page.getByRole("link", { name: "Second" }).waitFor();
    await page.keyboard.press("j");
    await page.locator("a:focus", { hasText: "Second" }).waitFor();
    await page.keyboard.press("j");
    await page.locator("a:focus").filter({ hasNotText: "Second" }).waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.href.includes(second.id));
    await page.getByRole("heading", { name: /Second/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "To the content" }).press("Enter");
    await page.locator("main:focus").waitFor();
    expect(complaints).toEqual([]);
  },
);
