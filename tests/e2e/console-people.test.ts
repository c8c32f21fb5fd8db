import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { tokenActor } from "../support/actors.ts";
import { connect } from "../support/client.ts";
import {
  anotherBrowser,
  axeViolations,
  consolePage,
  pictures,
  signInByKeyboard,
  tabTo,
  untilSeen,
} from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";

withChromium("console: two approvers with a quorum decide by keyboard alone, side by side", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({
    config: ACTORS,
    script: SCRIPT,
    template: { selfApproval: false, approvalQuorum: 2 },
  });
  const anna = connect(app.url, "anna-token");
  const { agent } = await ask(anna, "write a.txt");
  const petra = await anotherBrowser(page);
  await signInByKeyboard(page, app, "paul-token", "/console/inbox");
  await signInByKeyboard(petra, app, "petra-token", "/console/inbox");
  for (const each of [page, petra]) await each.getByText("0 of 2 votes").waitFor();
  await page.getByText("only an administrator stores a rule for it").waitFor();
  expect(await page.getByRole("button", { name: "Always allow" }).isDisabled()).toBe(true);
  // The question must be in view for a moment before a key allows it.
  const allow = async (each: typeof page): Promise<void> => {
    await each.getByRole("button", { name: "Allow once" }).waitFor();
    await untilSeen(each);
    await each.keyboard.press("Enter");
  };
  await allow(page);
  for (const each of [page, petra]) await each.getByText("1 of 2 votes").waitFor();
  await page.getByText("You have already decided; it waits for other people.").waitFor();
  expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await allow(petra);
  for (const each of [page, petra]) await each.getByText("Nothing waits for a decision.").waitFor();
  await anna.until(agent, "DONE");
  expect(await readFile(join(app.workspace, "a.txt"), "utf8")).toBe("text");
  // The history names both.
  await page.getByRole("link", { name: "History" }).press("Enter");
  const row = page.getByRole("row").filter({ hasText: "a.txt" });
  await row.getByText("paul: allowed").waitFor();
  await row.getByText("petra: allowed").waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await pictures(page, "console-history-quorum");
  expect(complaints).toEqual([]);
});

withChromium("console: two tenants side by side see nothing of each other", { timeout: 60_000 }, async () => {
  const people = [
    tokenActor("anna", ["user"]),
    tokenActor("paul", ["admin"]),
    tokenActor("yan", ["user"], "other"),
    tokenActor("zoe", ["admin"], "other"),
  ];
  const { app, page } = await consolePage({
    config: { actors: people.map(({ actor }) => actor) },
    script: SCRIPT,
    template: { selfApproval: false },
  });
  const zoe = await anotherBrowser(page);
  await signInByKeyboard(page, app, "paul-token", "/console/inbox");
  await signInByKeyboard(zoe, app, "zoe-token", "/console/inbox");
  const own = await ask(connect(app.url, "anna-token"), "write acme.txt");
  const foreign = await ask(connect(app.url, "yan-token"), "write other.txt");
  for (const [each, mine, theirs] of [
    [page, { text: "acme.txt", person: "anna", ...own }, { text: "other.txt", person: "yan", ...foreign }],
    [zoe, { text: "other.txt", person: "yan", ...foreign }, { text: "acme.txt", person: "anna", ...own }],
  ] as const) {
    await each.getByRole("option").filter({ hasText: mine.text }).waitFor();
    expect(await each.title()).toBe("(1) Triplane");
    for (const path of ["inbox", "agents", "audit", "policy", "operations", "history"]) {
      await each.goto(new URL(`/console/${path}`, app.url).href);
      await each.getByRole("main").waitFor();
      await each.waitForLoadState("networkidle");
      const text = await each.getByRole("main").innerText();
      expect(text, path).not.toContain(theirs.text);
      expect(text, path).not.toMatch(new RegExp(`\\b${theirs.person}\\b`));
    }
    // Neither by its address nor by the end of its id.
    await each.goto(new URL(`/console/inbox/${theirs.approvalId}`, app.url).href);
    await each.getByText("There is no such approval.").waitFor();
    await each.goto(new URL(`/console/agents/${theirs.agent}`, app.url).href);
    await each.waitForLoadState("networkidle");
    expect(await each.getByRole("main").innerText()).not.toContain(theirs.text);
    await each.goto(new URL(`/console/inbox`, app.url).href);
    await each.getByRole("option").filter({ hasText: mine.text }).waitFor();
    for (const [{ approvalId }, isFound] of [
      [mine, true],
      [theirs, false],
    ] as const) {
      const rowId = Buffer.from(approvalId, "base64").toString().split(":")[1] ?? "";
      await each.keyboard.press("Escape");
      await each.keyboard.press("/");
      await each.keyboard.press("ControlOrMeta+a");
      await each.keyboard.type(rowId.slice(-8));
      await each.waitForURL((url) => url.searchParams.get("find")?.includes(rowId.slice(-8)) === true);
      await each.waitForLoadState("networkidle");
      expect(await each.getByRole("option").filter({ hasText: mine.text }).count()).toBe(isFound ? 1 : 0);
      expect(await each.getByRole("list", { name: "Found by id" }).count()).toBe(0);
      await each.keyboard.press("Escape");
    }
  }
});

withChromium(
  "console: a rule is proposed, edited, stored, used, counted and revoked by keyboard alone",
  { timeout: 90_000 },
  async () => {
    const { app, page, complaints } = await consolePage({ config: ACTORS, script: SCRIPT, template: { selfApproval: false } });
    const anna = connect(app.url, "anna-token");
    const { agent } = await ask(anna, "write docs/a.txt");
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    await page.getByRole("button", { name: "Always allow" }).waitFor();
    await page.keyboard.press("a");
    const rule = page.getByRole("textbox", { name: "Rule" });
    await expect.poll(() => rule.inputValue()).toBe("fs_write(path:/docs/a.txt)");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("fs_write(path:/docs)");
    await page.getByRole("button", { name: "Store the rule, and allow" }).and(page.locator(":enabled")).waitFor();
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();
    await anna.until(agent, "DONE");
    for (const name of ["b", "c"]) await anna.turn(agent, `write docs/${name}.txt`);

    await page.keyboard.press("g");
    await page.keyboard.press("p");
    const table = page.getByRole("table", { name: "Stored rules" });
    await table.getByText("fs_write(path:/docs)").waitFor();
    const uses = table.getByTitle("The calls that it let run");
    // The count is about a second behind.
    await expect
      .poll(
        async () => {
          await page.reload();
          return uses.innerText();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe("2");
    await pictures(page, "console-rule-uses");
    expect(await axeViolations(page)).toEqual([]);
    await tabTo(page, uses);
    await page.keyboard.press("Enter");
    const calls = page.getByRole("table", { name: "Calls" });
    await calls.getByText("docs/c.txt").waitFor();
    await calls.getByText("docs/b.txt").waitFor();
    expect(await calls.getByText("docs/a.txt").count()).toBe(0);

    await page.goBack();
    await tabTo(page, table.getByRole("button", { name: "Revoke" }));
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Revoke this rule?" });
    await tabTo(page, dialog.getByRole("button", { name: "Revoke" }));
    await page.keyboard.press("Enter");
    await page.getByText("No rule is stored.").waitFor();
    await ask(anna, "write docs/d.txt", agent);
    await expect.poll(() => page.title()).toBe("(1) Triplane");
    expect(complaints).toEqual([]);
  },
);
