import type { Page } from "playwright-core";
import { expect } from "vitest";
import { EndSessionDocument, SessionsDocument } from "../generated/documents.ts";
import type { TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { ACTORS, ask, SCRIPT } from "../support/office.ts";

const OFFICE = { config: ACTORS, script: SCRIPT, template: { selfApproval: false } } as const;
const KEY = "triplane-drafts";

const drafts = (page: Page): Promise<string | null> => page.evaluate((key) => sessionStorage.getItem(key), KEY);

/** An administrator ends all sessions: the form for the sign-in comes. */
async function endSessions(app: TestApp, page: Page): Promise<void> {
  const ada = connect(app.url, "ada-token");
  const { sessions } = await ada.get(SessionsDocument, {});
  for (const { id } of sessions.nodes) await ada.get(EndSessionDocument, { id });
  await page.getByLabel("Access token").waitFor({ timeout: 30_000 });
}

async function signInAgain(page: Page, token: string): Promise<void> {
  await page.getByLabel("Access token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Audit" }).waitFor();
}

withChromium(
  "console: words of a denial and an edited input outlive a session, for their person alone, until they are sent",
  { timeout: 240_000 },
  async () => {
    const { app, page } = await consolePage(OFFICE);
    const anna = connect(app.url, "anna-token");
    const { approvalId } = await ask(anna, "write a.txt");
    await signInByKeyboard(page, app, "paul-token", `/console/inbox/${approvalId}`);
    await page.getByRole("button", { name: "Deny …" }).press("Enter");
    const words = page.getByRole("textbox", { name: "Words for the model" });
    await words.fill("Not in this folder.");
    await endSessions(app, page);
    await signInAgain(page, "paul-token");
    await words.waitFor();
    expect(await words.inputValue()).toBe("Not in this folder.");
    // Closed by its person, it is gone.
    await words.press("Escape");
    expect(await drafts(page)).toBeNull();

    await page.getByRole("button", { name: "Edit and allow" }).press("Enter");
    const content = page.getByRole("textbox", { name: "content" });
    await content.fill("other words");
    await endSessions(app, page);
    await signInAgain(page, "paul-token");
    await content.waitFor();
    expect(await content.inputValue()).toBe("other words");
    await endSessions(app, page);
    await signInAgain(page, "petra-token");
    await page.getByRole("button", { name: "Edit and allow" }).waitFor();
    expect(await content.count()).toBe(0);
    expect(await drafts(page)).toBeNull();

    await page.getByRole("button", { name: "Deny …" }).press("Enter");
    await words.fill("No.");
    expect(await drafts(page)).toContain("No.");
    await untilSeen(page);
    await words.press("Control+Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();
    expect(await drafts(page)).toBeNull();
  },
);

withChromium(
  "console: a message to an agent outlives a session and a visit of another screen, and no sign-out",
  { timeout: 240_000 },
  async () => {
    const { app, page } = await consolePage(OFFICE);
    const anna = connect(app.url, "anna-token");
    const { id } = await anna.createAgent();
    await signInByKeyboard(page, app, "anna-token", `/console/agents/${id}`);
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill("hello from");
    await page.getByRole("link", { name: "Audit" }).press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    await page.goBack();
    expect(await message.inputValue()).toBe("hello from");
    await message.fill("hello from Anna");
    await endSessions(app, page);
    await signInAgain(page, "anna-token");
    await message.waitFor();
    expect(await message.inputValue()).toBe("hello from Anna");
    await message.press("Enter");
    await page.getByRole("group", { name: "Conversation" }).getByText("hello from Anna").waitFor();
    await expect.poll(() => drafts(page)).toBeNull();
    await message.fill("for nobody else");
    expect(await drafts(page)).toContain("for nobody else");
    await page.getByRole("button", { name: "Sign out" }).press("Enter");
    await page.getByLabel("Access token").waitFor();
    expect(await drafts(page)).toBeNull();
  },
);

withChromium("console: a key that is held on one question answers no kept words of the next", { timeout: 120_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT });
  const local = connect(app.url);
  const [first, second] = [await ask(local, "write a.txt"), await ask(local, "write b.txt")];
  await open(`/console/inbox/${second.approvalId}`);
  await page.getByRole("button", { name: "Edit and allow" }).press("Enter");
  await page.getByRole("textbox", { name: "path" }).fill("half.txt");
  await open(`/console/inbox/${first.approvalId}`);
  await page.getByRole("button", { name: "Deny …" }).press("Enter");
  await page.getByRole("textbox", { name: "Words for the model" }).fill("no");
  await untilSeen(page);
  await page.keyboard.down("Control");
  await page.keyboard.down("Enter");
  // The next question comes with its kept words, while the key is still down.
  await page.getByRole("textbox", { name: "path" }).waitFor();
  await untilSeen(page);
  await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await page.keyboard.up("Control");
  await expect.poll(async () => (await local.events(first.agent)).some(({ kind }) => kind === "PERMISSION_DECIDED")).toBe(true);
  expect((await local.events(second.agent)).some(({ kind }) => kind === "PERMISSION_DECIDED")).toBe(false);
});

withChromium("console: huge words leave the others, and a browser without storage is served", { timeout: 120_000 }, async () => {
  const { app, page, open } = await consolePage({ script: SCRIPT });
  const local = connect(app.url);
  const [one, other] = [await local.createAgent(), await local.createAgent()];
  const words = page.getByRole("textbox", { name: "Message" });
  await open(`/console/agents/${one.id}`);
  await words.fill("precious words");
  await open(`/console/agents/${other.id}`);
  await words.fill("x".repeat(1_100_000));
  await open(`/console/agents/${one.id}`);
  await words.waitFor();
  expect(await words.inputValue()).toBe("precious words");

  const blocked = await page.context().browser()?.newPage();
  if (blocked === undefined) throw new Error("no browser");
  await blocked.addInitScript(() => {
    for (const name of ["sessionStorage", "localStorage"])
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException("blocked", "SecurityError");
        },
      });
  });
  await blocked.goto(new URL("/console/agents", app.url).href);
  await blocked.getByRole("button", { name: "New agent" }).waitFor();
});
