import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, pictures, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, inbox, SCRIPT } from "../support/office.ts";

const TEMPLATE = { selfApproval: false } as const;

withChromium(
  "console: a batch is allowed by one key, each question by its own decision; one that came later is not, and who was faster is shown",
  { timeout: 90_000 },
  async () => {
    const { app, page, complaints } = await consolePage({ config: ACTORS, script: SCRIPT, template: TEMPLATE });
    const [anna, petra] = [connect(app.url, "anna-token"), connect(app.url, "petra-token")];
    await ask(anna, "write docs/a.txt");
    const { approvalId: taken } = await ask(anna, "write docs/b.txt");
    for (const name of ["c", "d"]) await ask(anna, `write docs/${name}.txt`);
    await ask(anna, "write elsewhere.txt");
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    const lines = page.getByRole("listbox", { name: "Open approvals" }).getByRole("option");
    const batch = lines.filter({ hasText: "4 alike" });
    await batch.waitFor();
    expect(await page.title()).toBe("(5) Triplane");
    expect(await lines.count()).toBe(2);
    if ((await batch.getAttribute("aria-selected")) !== "true") await page.keyboard.press("j");
    await page.getByRole("heading", { name: "4 alike:" }).waitFor();
    const each = page.getByRole("region", { name: "Each of them" });
    expect(await each.locator("mark").allInnerTexts()).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    await page.keyboard.press("o");
    await expect.poll(() => lines.count()).toBe(6);
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-batch");

    // Another person decides one of them first, and another one is asked meanwhile.
    await page.route("**/graphql", async (route) => {
      const { query, variables } = route.request().postDataJSON() as {
        readonly query: string;
        readonly variables: { readonly input?: { readonly approvalId: string } };
      };
      if (query.startsWith("mutation Decide") && variables.input?.approvalId === taken)
        await petra.decide({ approvalId: taken, decision: "DENY" });
      await route.continue();
    });
    await ask(anna, "write docs/e.txt");
    await page.getByText("1 more alike question has come.").waitFor();
    await page.keyboard.press("Shift+A");
    await page.getByText("4 of 4 decided").waitFor();
    expect(await each.getByText("allowed", { exact: true }).count()).toBe(3);
    await each.getByRole("listitem").nth(1).getByText("petra").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-batch-decided");
    await expect.poll(async () => (await readdir(join(app.workspace, "docs"))).toSorted()).toEqual(["a.txt", "c.txt", "d.txt"]);
    const open = await inbox(petra, { states: ["PENDING"] });
    expect(open).toHaveLength(2);
    expect(complaints).toEqual([]);
  },
);

withChromium(
  "console: a batch is denied with words by keys, and its refused decisions say why",
  { timeout: 60_000 },
  async () => {
    const { app, page, complaints } = await consolePage({ config: ACTORS, script: SCRIPT, template: TEMPLATE });
    const [anna, pia] = [connect(app.url, "anna-token"), connect(app.url, "pia-token")];
    for (const name of ["a", "b"]) await ask(anna, `write docs/${name}.txt`);
    // What she asked for herself she may not decide.
    const { approvalId: own } = await ask(pia, "write docs/c.txt");
    await signInByKeyboard(page, app, "pia-token", "/console/inbox");
    await page.getByRole("heading", { name: "3 alike:" }).waitFor();
    await page.keyboard.press("Shift+D");
    await page.keyboard.type("Not in docs.");
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-batch-deny");
    const answered = Promise.withResolvers<void>();
    await page.route("**/graphql", async (route) => {
      if ((route.request().postData() ?? "").includes("mutation Decide")) await answered.promise;
      await route.continue();
    });
    await page.keyboard.press("ControlOrMeta+Enter");
    const members = page.getByRole("region", { name: "Each of them" });
    await members.getByText("sending").first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-batch-sending");
    answered.resolve();
    await page.getByText("2 of 3 decided, 1 refused").waitFor();
    expect(await members.getByRole("alert").locator("[lang=en]").count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-batch-refused");
    await page.getByRole("button", { name: "Deny all 1" }).waitFor();
    const [open, ...others] = await inbox(pia, { states: ["PENDING"] });
    expect([open?.id, others]).toEqual([own, []]);
    expect((await inbox(pia, { states: ["DENIED"] })).map(({ note }) => note)).toEqual(["Not in docs.", "Not in docs."]);
    expect(complaints).toEqual([]);
  },
);

withChromium(
  "console: questions with longer inputs are a batch once the page has read them whole",
  { timeout: 120_000 },
  async () => {
    const body = (lines: number): string => "a line of text\n".repeat(lines);
    const write = (pattern: string, lines: number, end: string) => ({
      when: { user: `^write (?<name>${pattern})$` },
      call: [{ tool: "fs_write", input: { path: "{{name}}", content: `${body(lines)}${end}` } }],
    });
    const { app, page, complaints } = await consolePage({
      config: ACTORS,
      script: {
        replies: [write("docs/[a-c].*", 40, "the end of {{name}}"), write("docs/x.*", 400, ""), { when: {}, say: ["Done."] }],
      },
      template: TEMPLATE,
    });
    const anna = connect(app.url, "anna-token");
    for (const name of ["a", "b", "x1", "x2", "x3"]) await ask(anna, `write docs/${name}.txt`);
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    const lines = page.getByRole("listbox", { name: "Open approvals" }).getByRole("option");
    await expect.poll(() => lines.count()).toBe(5);
    // The third one comes under the open page. Those above the bound stand alone.
    await ask(anna, "write docs/c.txt");
    const batch = lines.filter({ hasText: "3 alike" });
    await batch.click();
    await expect.poll(() => lines.count()).toBe(4);
    await page.getByRole("heading", { name: "3 alike:" }).waitFor();
    const common = page.getByRole("region", { name: "Common to all" });
    expect((await common.innerText()).split("a line of text").length).toBeGreaterThan(40);
    const each = page.getByRole("region", { name: "Each of them" });
    const shown = (await each.locator("mark").allInnerTexts()).filter((text) => text !== "…");
    expect(shown).toEqual(["a.txt", "a.txt", "b.txt", "b.txt", "c.txt", "c.txt"]);
    expect(await axeViolations(page)).toEqual([]);
    await untilSeen(page);
    await page.keyboard.press("Shift+A");
    await page.getByText("3 of 3 decided").waitFor();
    await expect.poll(async () => (await readdir(join(app.workspace, "docs"))).toSorted()).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(await inbox(anna, { states: ["PENDING"] })).toHaveLength(3);
    expect(complaints).toEqual([]);
  },
);
