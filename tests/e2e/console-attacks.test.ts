import type { Page } from "playwright-core";
import { expect } from "vitest";
import { defineTool, Type } from "../../src/triplane.ts";
import { tokenActor } from "../support/actors.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";

const OVERRIDE = "\u202e";

/** A command whose tool runs it elsewhere. */
const remote = defineTool({
  name: "remote_run",
  description: "Runs a command on a host.",
  readOnly: false,
  commands: ["command"],
  inputSchema: Type.Object({ command: Type.String(), host: Type.String() }),
  run: () => ({ output: "" }),
});

/** A tool with an input of any form, which is edited as JSON. */
const loose = defineTool({
  name: "loose",
  description: "Takes everything.",
  readOnly: false,
  inputSchema: Type.Object({}, { additionalProperties: true }),
  run: () => ({ output: "" }),
});

/** The places of two letters on the page, from the left. */
function places(line: Element): readonly number[] {
  const [text] = [...line.querySelectorAll("mark, span")].flatMap(({ firstChild }) =>
    firstChild instanceof Text ? [firstChild] : [],
  );
  if (text === undefined) throw new Error("the line has a text");
  return ["א", "ב"].map((letter) => {
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(letter));
    range.setEnd(text, text.data.indexOf(letter) + 1);
    return range.getBoundingClientRect().left;
  });
}

const SCRIPT = {
  replies: [
    {
      when: { user: "^remote" },
      call: [{ tool: "remote_run", input: { command: "make build", host: `prod${OVERRIDE}.example` } }],
    },
    {
      when: { user: "^long" },
      call: [{ tool: "bash_run", input: { command: `echo ok${"\n# harmless".repeat(300)}\nmake production > /etc/made` } }],
    },
    { when: { user: "^copy" }, call: [{ tool: "bash_run", input: { command: "cp א ב" } }] },
    { when: { user: "^loose" }, call: [{ tool: "loose", input: { [`a${OVERRIDE}b`]: "c" } }] },
    { when: { user: "^strange" }, call: [{ tool: `bash${OVERRIDE}_run`, input: { command: "ls" } }] },
    {
      when: { user: "^links" },
      say: ["[https://bank.example/?x=evil.example](https://evil.example/a) https://bank.example@evil.example/login"],
    },
    { when: {}, say: ["Done."] },
  ],
};

/** The texts of the page with characters that turn a text around. */
function turnedTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (node.nodeValue?.includes("\u202e") === true) found.push(node.nodeValue);
    return found;
  });
}

withChromium("console: another tenant's tab takes over the pages of the first", { timeout: 60_000 }, async () => {
  const opened = await consolePage({
    config: { actors: [tokenActor("anna", ["user"]).actor, { ...tokenActor("zoe", ["admin"], "other").actor, id: "anna" }] },
  });
  const { app } = opened;
  const browser = await opened.page.context().browser()?.newContext();
  if (browser === undefined) throw new Error("a page has a browser");
  const page = await browser.newPage();
  await signInByKeyboard(page, app, "anna-token", "/console/inbox");
  await page.getByText("live").waitFor();
  const who = page.getByRole("link", { name: /^anna · / });
  expect(await who.innerText()).toBe("anna · acme");
  const other = await browser.newPage();
  await other.goto(new URL("/console", app.url).href);
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByLabel("Access token").fill("zoe-token");
  await other.keyboard.press("Enter");
  await other.getByText("anna · other").waitFor();
  await expect.poll(() => who.innerText(), { timeout: 10_000 }).toBe("anna · other");

  // A page that the browser has kept is read anew when it is shown again.
  const again = page.waitForEvent("domcontentloaded");
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
  await again;
  await who.waitFor();
});

withChromium(
  "console: titles, names of tools and values turn no text around, and a command shows what is beside it and beyond its view",
  { timeout: 90_000 },
  async () => {
    const { app, page, complaints, open } = await consolePage({ script: SCRIPT, config: { tools: [remote, loose] } });
    const client = connect(app.url);
    const asked = async (words: string): Promise<string> => {
      const { id } = await client.createAgent({ title: `Of ${words}${OVERRIDE}lacol` });
      await client.send(id, words);
      return id;
    };
    await asked("remote");
    await open("/console/inbox");
    const question = page.getByRole("region", { name: "Question" });
    await question.getByText("prod\\u202e.example", { exact: true }).waitFor();
    expect(await turnedTexts(page)).toEqual([]);
    await page.keyboard.press("a");
    await question.getByText("It does not look at: host").waitFor();
    await page.keyboard.press("Escape");
    await asked("long");
    await expect.poll(() => page.title()).toBe("(2) Triplane");
    await page.getByRole("option", { name: "bash_run echo" }).click();
    await question.getByText("This command has 302 lines.").waitFor();
    await question
      .getByRole("list", { name: "Asking parts" })
      .getByText("make production > /etc/made", { exact: true })
      .waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await asked("copy");
    await page.getByRole("option", { name: "bash_run cp" }).click();
    const line = question.getByRole("group", { name: "Command line, asking parts marked" });
    await line.getByText("cp").waitFor();
    const [first = 0, second = 0] = await line.evaluate(places);
    expect(first).toBeLessThan(second);
    await asked("loose");
    await page.getByRole("option", { name: "loose {" }).click();
    await question.getByRole("button", { name: "Edit and allow" }).click();
    expect(await question.getByLabel("Input (JSON)").inputValue()).toContain("a\\u202eb");
    await page.keyboard.press("Escape");
    const strange = await asked("strange");
    await open(`/console/agents/${strange}`);
    await page.getByText("bash\\u202e_run").first().waitFor();
    expect(await turnedTexts(page)).toEqual([]);
    await open("/console/audit");
    await page.getByRole("table", { name: "Calls" }).getByText("bash\\u202e_run").waitFor();
    expect(await turnedTexts(page)).toEqual([]);
    await open(`/console/agents/${await asked("links")}`);
    const links = page.getByRole("link", { name: "(evil.example)" });
    await expect.poll(() => links.count()).toBe(2);
    expect(complaints).toEqual([]);
  },
);

withChromium("console: a decision whose answer was lost is not called refused", { timeout: 60_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT, config: { tools: [remote] } });
  const client = connect(app.url);
  for (const title of ["First", "Second"]) {
    const { id } = await client.createAgent({ title });
    await client.send(id, "remote");
  }
  let isTaken = false;
  await page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { readonly query: string };
    if (!asked.query.startsWith("mutation Decide")) return route.continue();
    if (isTaken) await route.fetch();
    await route.abort();
  });
  await open("/console/inbox");
  const row = page.getByRole("listbox", { name: "Open approvals" }).getByRole("option").first();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await untilSeen(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  await row.getByText("no answer").waitFor();
  expect(await page.title()).toBe("(2) Triplane");
  isTaken = true;
  await row.click();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await untilSeen(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  await expect.poll(() => page.title()).toBe("(1) Triplane");
  expect(await page.getByText("Your decision was not taken").count()).toBe(0);
  expect(await page.getByText("The answer to your decision was lost").count()).toBe(0);
});
