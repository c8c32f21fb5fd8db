import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { CreateScheduleDocument, SendMessageDocument } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { policyViolations, screenshot } from "../support/browser.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { DOT, png } from "../support/images.ts";
import { ownTool } from "../support/tools.ts";

const SCRIPT = {
  replies: [
    { when: { user: "^list" }, call: [{ tool: "fs_glob", input: { pattern: "*" } }] },
    { when: {}, say: ["Hello."] },
  ],
};

withChromium("console: an agent is forked after an earlier message, by keyboard", { timeout: 60_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "First" });
  for (const text of ["one", "two", "three"]) await client.turn(id, text);
  await open(`/console/agents/${id}`);
  await page.getByRole("button", { name: "Fork …" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Fork after which message?" });
  const points = dialog.getByRole("listitem");
  await points.filter({ hasText: "three" }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-fork");
  await points.filter({ hasText: "two" }).getByRole("button", { name: "Fork here" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.href.includes(id));
  const conversation = page.getByRole("group", { name: "Conversation" });
  await conversation.getByText("3 messages are shared").click();
  await conversation.getByText("two", { exact: true }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(await conversation.getByText("three", { exact: true }).count()).toBe(0);
  await page.getByRole("textbox", { name: "Message" }).fill("four");
  await page.keyboard.press("Enter");
  await conversation.getByText("four", { exact: true }).waitFor();
  await conversation.getByText("two", { exact: true }).waitFor();
  await page.getByRole("link", { name: "forked from this agent" }).press("Enter");
  await conversation.getByText("three", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

withChromium("console: the request of a step is shown, and proved by its hash", { timeout: 60_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({ script: SCRIPT, template: { permission: { mode: "auto" } } });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  await client.turn(id, "list the folder");
  await open(`/console/agents/${id}`);
  await page.getByRole("complementary", { name: "Standing" }).getByRole("button", { name: "The model's request" }).click();
  const dialog = page.getByRole("dialog", { name: "The model's request" });
  await dialog.getByText("proved by its hash", { exact: true }).waitFor();
  await dialog.getByText("tool_result").waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-context");
  await dialog.getByRole("spinbutton", { name: "Step" }).fill("1");
  await dialog.getByText("tool_result").waitFor({ state: "detached" });
  await dialog.getByText("proved by its hash", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

withChromium("console: a schedule is paused, resumed and deleted by those who may", { timeout: 60_000 }, async () => {
  const config = { actors: [tokenActor("anna", ["user"]), tokenActor("vera", ["viewer"])].map(({ actor }) => actor) };
  const { app, page, complaints, open } = await consolePage({ config, script: SCRIPT });
  const client = connect(app.url, "anna-token");
  const { id: agentId } = await client.createAgent({ title: "Daily" });
  await client.get(CreateScheduleDocument, { input: { agentId, text: "Look at the mail.", trigger: { everyMs: 3_600_000 } } });
  const signIn = async (token: string, path: string): Promise<void> => {
    await open(path);
    await page.getByLabel("Access token").fill(token);
    await page.keyboard.press("Enter");
  };
  await signIn("anna-token", `/console/agents/${agentId}`);
  const standing = page.getByRole("complementary", { name: "Standing" });
  await standing.getByRole("button", { name: "Pause" }).focus();
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await standing.getByText("paused", { exact: true }).waitFor();
  await standing.getByRole("button", { name: "Resume" }).click();
  await standing.getByRole("button", { name: "Pause" }).waitFor();
  await page.context().clearCookies();
  await signIn("vera-token", `/console/agents/${agentId}`);
  await standing.getByText("Look at the mail.").waitFor();
  expect(await standing.getByRole("button", { name: "Pause" }).count()).toBe(0);
  await page.context().clearCookies();
  await signIn("anna-token", `/console/agents/${agentId}`);
  await standing.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the schedule?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await standing.getByText("Look at the mail.").waitFor({ state: "detached" });
  expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
});

withChromium("console: an output of 20 MB is read part by part, beside an image", { timeout: 60_000 }, async () => {
  const images = [{ mediaType: "image/png", data: DOT.toString("base64") }] as const;
  const output20MB = `${"line of text é\n".repeat(1_400_000)}the end`;
  const { app, page, complaints, open } = await consolePage({
    config: { tools: [ownTool("flood", async () => ({ output: output20MB, images }))] },
    script: {
      replies: [
        { when: { user: "^flood" }, call: [{ tool: "flood", input: {} }] },
        { when: {}, say: ["Done."] },
      ],
    },
    template: { permission: { mode: "auto" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  await client.turn(id, "flood it");
  await open(`/console/agents/${id}`);
  await page.locator("details.call summary").click();
  const picture = page.getByRole("img", { name: `Image 1 of the result, PNG, ${DOT.length} B` });
  await picture.waitFor();
  await expect.poll(() => picture.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  await page.getByRole("button", { name: "Read the whole output" }).click();
  const output = page.getByRole("group", { name: "Whole output" });
  await output.waitFor();
  await page.getByRole("button", { name: "Next part" }).click();
  await page.getByRole("status").filter({ hasText: "64.0 KB to" }).waitFor();
  await page.getByRole("button", { name: "Last part" }).click();
  await output.filter({ hasText: "the end" }).waitFor();
  expect((await output.innerText()).length).toBeLessThan(70_000);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Back" }).click();
  await output.filter({ hasText: "the end" }).waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

withChromium("console: a file's changes are shown one by one and together, also by keyboard", { timeout: 60_000 }, async () => {
  const edit = (from: string, to: string) => ({
    tool: "fs_edit",
    input: { path: "./notes.md", old_string: from, new_string: to },
  });
  const { app, page, complaints, open } = await consolePage({
    script: {
      replies: [
        { when: { user: "^write" }, call: [{ tool: "fs_write", input: { path: "notes.md", content: "one\ntwo\n" } }] },
        { when: { user: "^edit" }, call: [edit("two", "three"), edit("three", "four"), edit("one", "first")] },
        { when: { user: "^undo" }, call: [edit("four", "five"), edit("five", "four")] },
        { when: { user: "^again" }, call: [{ tool: "fs_read", input: { path: "notes.md" } }, edit("theirs", "ours")] },
        { when: {}, say: ["Done."] },
      ],
    },
    template: { permission: { mode: "auto" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent({});
  await client.turn(id, "write it");
  await client.turn(id, "edit it");
  await open(`/console/agents/${id}`);
  const dialog = page.getByRole("dialog", { name: "Changes of notes.md" });
  const show = () => page.getByRole("button", { name: "notes.md" }).press("Enter");
  const lines = (diff: Locator) => diff.locator(".added, .removed").allInnerTexts();
  const shown = async () =>
    (await lines(dialog.getByRole("group", { name: "notes.md" }).first())).map((line) => line.replaceAll("\n", ""));
  await show();
  await dialog.getByText("changes: 3", { exact: false }).waitFor();
  // The four changes of two lines are one change of each.
  expect(await dialog.getByRole("group", { name: "notes.md" }).count()).toBe(4);
  expect(await shown()).toEqual(["−one", "−two", "1+first", "2+four"].map((line) => expect.stringContaining(line.slice(-4))));
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-file-together");
  await dialog.getByLabel("Since the turn began").focus();
  await page.keyboard.press("ArrowDown");
  await dialog.getByText("changes: 4", { exact: false }).waitFor();
  expect(await shown()).toEqual([expect.stringContaining("first"), expect.stringContaining("four")]);
  await page.keyboard.press("Escape");

  await client.turn(id, "undo it");
  await page.reload();
  await show();
  await dialog.getByText("The file is as it was before").waitFor();

  // Another program changes the file between.
  await writeFile(join(app.workspace, "notes.md"), "first\ntheirs\n");
  await client.turn(id, "again");
  await page.reload();
  await show();
  await dialog.getByText("changes: 1", { exact: false }).waitFor();
  await dialog.getByLabel("Since the agent began").check();
  await dialog.getByText("something else has changed the file between them").waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

withChromium(
  "console: picked images are named, and can be taken off before the message is sent",
  { timeout: 60_000 },
  async () => {
    const { app, page, complaints, open } = await consolePage({ script: { replies: [{ when: {}, say: ["Seen."] }] } });
    const client = connect(app.url);
    const { id } = await client.createAgent({});
    await open(`/console/agents/${id}`);
    const image = { name: "chart.png", mimeType: "image/png", buffer: DOT };
    const chooser = page.getByLabel("Images");
    await chooser.setInputFiles([image, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
    await page.getByRole("alert").getByText("can be sent: notes.txt").waitFor();
    await page.getByRole("button", { name: "Remove chart.png" }).press("Enter");
    expect(await page.getByText("chart.png").count()).toBe(0);
    await chooser.setInputFiles(image);
    await page.getByText("chart.png").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("look");
    await page.keyboard.press("Enter");
    await page.getByText("Seen.").waitFor();
    const { messages } = await client.agent(id);
    expect(JSON.stringify(messages)).toContain("look");
    expect(await page.getByText("chart.png").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);

withChromium(
  "console: the images of people's messages are shown, and loaded again if they were lost",
  { timeout: 60_000 },
  async () => {
    const { app, page, complaints, foreign, open } = await consolePage({ script: SCRIPT });
    const violations = await policyViolations(page);
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent({});
    const images = [png(10), png(2_000_000, 1)].map((data) => ({ mediaType: "PNG", data }) as const);
    await client.get(SendMessageDocument, { input: { agentId, text: "![look](https://elsewhere.example/a.png)", images } });
    await page.route("**/images/**", (route) => route.abort());
    await open(`/console/agents/${agentId}`);
    const conversation = page.getByRole("group", { name: "Conversation" });
    await conversation.getByText("it could not be loaded").first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.unroute("**/images/**");
    await conversation.getByRole("button", { name: "Load the images again" }).first().press("Enter");
    const large = conversation.getByRole("img", { name: "Image 2 of the message, PNG, 1.9 MB" });
    await large.waitFor();
    await expect.poll(() => large.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
    expect(await conversation.getByRole("img").count()).toBe(2);
    await conversation.getByText("![look](https://elsewhere.example/a.png)").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, "console-message-images");
    // One that is sent from here is shown as well.
    const file = { name: "dot.png", mimeType: "image/png", buffer: DOT };
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole("textbox", { name: "Message" }).fill("and this");
    await page.keyboard.press("Enter");
    await conversation.getByRole("img", { name: `Image 1 of the message, PNG, ${DOT.length} B` }).waitFor();
    await app.database.sql.query({ name: "", text: "DELETE FROM image" }, []);
    await page.reload();
    await conversation.getByText("Image 2 of the message, PNG, 1.9 MB: it was removed.").waitFor();
    expect(await violations()).toEqual([]);
    expect(foreign).toEqual([]);
    expect(complaints.filter((text) => !text.includes("ERR_FAILED"))).toEqual([]);
  },
);

withChromium("console: an agent is archived, found again and restored, by keyboard", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent({ title: "Old work" });
  await client.turn(id, "hello");
  await open(`/console/agents/${id}`);
  const archive = page.getByRole("button", { name: "Archive", exact: true });
  await archive.waitFor();
  // The server answers so for an agent with others at work below it.
  await page.route("**/graphql", async (route) => {
    const body = route.request().postData() ?? "";
    if (!body.includes("mutation Archive") || body.includes('"tree":true')) return route.continue();
    const userErrors = [{ __typename: "UserError", code: "CHILDREN_WORK", message: "1 agent below it is at work" }];
    const archiveAgent = { __typename: "ArchiveAgentPayload", agent: null, userErrors };
    await route.fulfill({ json: { data: { archiveAgent } } });
  });
  await archive.press("Enter");
  await page.getByRole("alert").getByText("1 agent below it is at work").waitFor();
  await page.getByRole("button", { name: "Archive, and interrupt those below it" }).press("Enter");
  const restore = page.getByRole("button", { name: "Restore" });
  await restore.waitFor();
  await page.getByText("archived", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Compact" }).isDisabled()).toBe(true);
  expect(await page.getByRole("textbox").isDisabled()).toBe(true);
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-archived");

  await open("/console/agents");
  await page.getByText("No agent yet.").waitFor();
  await page.getByLabel("Archived").check();
  await page.getByRole("link", { name: /Old work/ }).press("Enter");
  await restore.press("Enter");
  await archive.waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("are you there?");
  await page.keyboard.press("Enter");
  await client.until(id, "DONE");
  await page.getByRole("group", { name: "Conversation" }).getByText("are you there?").waitFor();
  expect(complaints).toEqual([]);
});
