import type { Page } from "playwright-core";
import { expect } from "vitest";
import { EndSessionDocument, SessionsDocument } from "../generated/documents.ts";
import { ANALYST_ROWS } from "../support/analyst-rows.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, inbox, SCRIPT } from "../support/office.ts";

const OFFICE = { config: ACTORS, script: SCRIPT, template: { selfApproval: false } } as const;

/** Counts the requests of an operation. */
function requestsOf(page: Page, operation: string): () => number {
  let count = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/graphql") && (request.postData() ?? "").includes(`mutation ${operation}`)) count += 1;
  });
  return () => count;
}

/** A click that is not the first of a fast row of clicks, where the pointer is. */
async function clickAgain(page: Page): Promise<void> {
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  // What the click has asked for is on its way.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0))));
}

/** Clicks the first answer of the question with this text as soon as it is there, sooner than a test could ask for it. */
function clickOnceShown(page: Page, text: string): Promise<void> {
  return page.evaluate(
    (wanted) =>
      new Promise<void>((done) => {
        const look = (): void => {
          const button = document.querySelector<HTMLButtonElement>(".choices .primary");
          const isShown = document.querySelector(".sentence")?.textContent?.includes(wanted) === true;
          if (!isShown || button === null || button.disabled) return void requestAnimationFrame(look);
          button.click();
          done();
        };
        look();
      }),
    text,
  );
}

withChromium("console: a double click answers one question, however slow it is", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage(OFFICE);
  const anna = connect(app.url, "anna-token");
  for (const name of ["a", "b"]) await ask(anna, `write ${name}.txt`);
  await signInByKeyboard(page, app, "paul-token", "/console/inbox");
  const sent = requestsOf(page, "Decide");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await untilSeen(page);
  // The next question stands under the pointer.
  const next = clickOnceShown(page, "b.txt");
  await allow.click();
  await next;
  await clickAgain(page);
  await untilSeen(page);
  await clickAgain(page);
  expect(sent()).toBe(1);
  await page.mouse.down();
  await page.mouse.up();
  await page.getByText("Nothing waits for a decision.").waitFor();
  expect(sent()).toBe(2);
  expect(complaints).toEqual([]);
});

withChromium("console: a click that was meant for a question allows no batch", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage(OFFICE);
  const anna = connect(app.url, "anna-token");
  await ask(anna, "write first/x.txt");
  for (const name of ["a", "b", "c"]) await ask(anna, `write docs/${name}.txt`);
  await signInByKeyboard(page, app, "paul-token", "/console/inbox");
  const sent = requestsOf(page, "Decide");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await untilSeen(page);
  const next = clickOnceShown(page, "3 alike:");
  await page.getByRole("button", { name: "Allow once" }).click();
  await next;
  await page.getByRole("button", { name: "Allow all 3" }).hover();
  await clickAgain(page);
  expect(sent()).toBe(1);
  expect(await inbox(anna, { states: ["PENDING"] })).toHaveLength(3);
  expect(complaints).toEqual([]);
});

withChromium("console: a double click makes one export", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage(OFFICE);
  await connect(app.url, "anna-token").createAgent();
  await signInByKeyboard(page, app, "ada-token", "/console/audit?view=exports&what=EVENTS");
  const sent = requestsOf(page, "CreateExport");
  await page.getByRole("button", { name: "Make the file" }).click();
  const rows = page.getByRole("table", { name: "Files" }).getByRole("row");
  await rows.nth(1).waitFor();
  await clickAgain(page);
  expect(sent()).toBe(1);
  expect(complaints).toEqual([]);
});

withChromium(
  "console: a decision that the end of a session has cut off is told after the sign-in",
  { timeout: 120_000 },
  async () => {
    const { app, page } = await consolePage(OFFICE);
    const anna = connect(app.url, "anna-token");
    const ada = connect(app.url, "ada-token");
    const { approvalId } = await ask(anna, "write a.txt");
    await ask(anna, "write b.txt");
    await signInByKeyboard(page, app, "paul-token", "/console/inbox");
    await page.route("**/graphql", async (route) => {
      if ((route.request().postData() ?? "").includes("mutation Decide")) {
        const { sessions } = await ada.get(SessionsDocument, {});
        for (const { id } of sessions.nodes) await ada.get(EndSessionDocument, { id });
      }
      await route.continue();
    });
    await page.locator(".sentence").filter({ hasText: "a.txt" }).waitFor();
    await untilSeen(page);
    await page.keyboard.press("Enter");
    await page.getByText("Your session has ended.").waitFor();
    await page.unroute("**/graphql");
    await page.keyboard.type("paul-token");
    await page.keyboard.press("Enter");
    const alert = page.getByRole("alert").filter({ hasText: "Your decision was not taken:" });
    await alert.getByText("your session had ended").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await alert.getByRole("link", { name: "Open the question" }).press("Enter");
    await page.waitForURL(
      (url) => url.pathname.endsWith(`/inbox/${encodeURIComponent(approvalId)}`) || url.pathname.endsWith(`/inbox/${approvalId}`),
    );
    await page.locator(".sentence").filter({ hasText: "a.txt" }).waitFor();
    await untilSeen(page);
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await inbox(anna, { states: ["PENDING"] })).length).toBe(1);
    // It is told once.
    await page.reload();
    await page.locator(".sentence").filter({ hasText: "b.txt" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  },
);

withChromium("console: news keep the selected text, and back keeps the filters", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage(OFFICE);
  const anna = connect(app.url, "anna-token");
  const { agent, approvalId } = await ask(anna, "write a.txt");
  await signInByKeyboard(page, app, "paul-token", "/console/inbox?requester=anna");
  await page.locator(".sentence").filter({ hasText: "a.txt" }).waitFor();
  await page.evaluate(() => {
    const sentence = document.querySelector(".sentence");
    if (sentence !== null) getSelection()?.selectAllChildren(sentence);
  });
  const selected = (): Promise<string> => page.evaluate(() => String(getSelection()));
  const text = await selected();
  expect(text).toContain("a.txt");
  await ask(anna, "write b.txt");
  await page.getByRole("listbox", { name: "Open approvals" }).getByRole("option").nth(1).waitFor();
  expect(await selected()).toBe(text);

  // A question that another person has closed is still shown by its link, with its end.
  await connect(app.url, "petra-token").decide({ approvalId, decision: "DENY" });
  await page.getByText("petra has decided it.").waitFor();
  await open(`/console/inbox/${approvalId}?requester=anna`);
  await page.getByText("petra has decided it.").waitFor();
  expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(0);

  await open("/console/agents?template=assistant");
  await page
    .getByRole("link", { name: /assistant/ })
    .first()
    .click();
  await page.waitForURL((url) => url.pathname.startsWith("/console/agents/"));
  await page.goBack();
  expect(new URL(page.url()).search).toBe("?template=assistant");
  expect(await page.getByLabel("Template").inputValue()).toBe("assistant");
  expect(agent).not.toBe("");
  expect(complaints).toEqual([]);
});

withChromium("console: news leave a reader of the history where they are", { timeout: 120_000 }, async () => {
  const url = await testDatabaseUrl();
  const { app, page, complaints, open } = await consolePage({
    script: SCRIPT,
    database: { kind: "postgres", url, connections: 3 },
  });
  const client = connect(app.url);
  await client.createAgent();
  await (await administrator(url)).query(`${ANALYST_ROWS} UPDATE approval SET risk = 'LOW';`);
  await open("/console/history");
  const rows = page.getByRole("group", { name: "History" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole("button", { name: "Show more" }).press("Enter");
  await expect.poll(() => rows.count()).toBe(60);
  const { approvalId, inputHash } = await ask(client);
  await client.decide({ approvalId, decision: "DENY", ...(inputHash === null ? {} : { inputHash }) });
  await page.getByText("More questions have been closed.").waitFor();
  expect(await rows.count()).toBe(60);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Read again" }).press("Enter");
  await rows.first().getByText("fs_write").waitFor();
  await page.getByText("More questions have been closed.").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});
