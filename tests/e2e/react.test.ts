import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { presets } from "../../src/triplane.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { hasNoBox } from "../support/box.ts";
import { openPage, screenshot } from "../support/browser.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { browserOf, inBrowser, send, serve, withChromium } from "../support/example-app.ts";
import { loseLeases, SHORT_LEASES } from "../support/lost-leases.ts";
import { startServerProcess } from "../support/server-process.ts";
import { ownTool } from "../support/tools.ts";

inBrowser(
  "examples/%s: send, stream, tools, a reload while an approval waits, approve, and a server that is killed and comes back",
  { timeout: 90_000 },
  async (app) => {
    const data = { TRIPLANE_DATA_DIR: await embeddedFolder() };
    const server = await startServerProcess(data);
    const { page, complaints } = await openPage();
    await page.goto(await serve(app, server.url));
    await page.getByLabel("Message").fill("Find every TODO and make a todo for each.");
    await page.getByRole("button", { name: "Send" }).click();
    const conversation = page.getByRole("list", { name: "Conversation" });
    await conversation.getByText("I will look for TODO comments").waitFor();
    await conversation.getByText("fs_grep").waitFor();
    const allow = page.getByRole("button", { name: "Allow", exact: true });
    await allow.waitFor();
    await screenshot(page, `${app}-asks`);

    const before = await conversation.innerText();
    await page.reload();
    await allow.waitFor();
    await page.getByText("live, working").waitFor();
    await expect.poll(() => conversation.innerText()).toBe(before);
    await allow.click();
    await conversation.getByText("The list has 3 todos").waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    expect(await conversation.getByText("Allowed by local").count()).toBe(1);

    server.child.kill("SIGKILL");
    await server.exited;
    await page.getByText("connection lost, trying again").waitFor();
    await startServerProcess({ ...data, PORT: new URL(server.url).port });
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    await page.getByLabel("Message").fill("What is on your todo list?");
    await page.getByRole("button", { name: "Send" }).click();
    await conversation.getByText("This is the list").waitFor();
    await page.getByRole("status").getByText("live", { exact: true }).waitFor();
    await screenshot(page, `${app}-done`);
    const texts = await conversation.getByRole("listitem").allInnerTexts();
    expect(texts.filter((text) => text.includes("The list has 3 todos"))).toHaveLength(1);
    expect(texts.filter((text) => text === "What is on your todo list?")).toHaveLength(1);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: a question of the model to the person, still there after a reload and a killed server, answered by one of two tabs",
  { timeout: 90_000 },
  async (app) => {
    const data = { TRIPLANE_DATA_DIR: await embeddedFolder() };
    const server = await startServerProcess(data);
    const { page, complaints } = await openPage();
    const address = await serve(app, server.url);
    await page.goto(address);
    await send(page, "ask me");
    const question = page.getByRole("form", { name: "Question" });
    await question.getByText("What shall I look at first?").waitFor();
    await screenshot(page, `${app}-question`);
    await page.reload();
    await question.waitFor();

    const other = await browserOf(page).newPage();
    await other.goto(address);
    await other.getByText("Your agents").click();
    await other.getByRole("list", { name: "Your agents" }).getByRole("button").first().click();
    const elsewhere = other.getByRole("form", { name: "Question" });
    await elsewhere.getByRole("button", { name: "the README" }).waitFor();

    server.child.kill("SIGKILL");
    await server.exited;
    await page.getByText("connection lost, trying again").waitFor();
    await startServerProcess({ ...data, PORT: new URL(server.url).port });
    await page.getByRole("status").getByText("live, working").waitFor();
    await other.getByRole("status").getByText("live, working").waitFor();

    await question.getByLabel("Another answer").fill("the tests");
    await question.getByRole("button", { name: "Answer" }).click();
    for (const tab of [page, other]) {
      await tab.getByText("You said: the tests").waitFor();
      await expect.poll(() => tab.getByRole("form", { name: "Question" }).count()).toBe(0);
    }
    await send(page, "ask me");
    await elsewhere.getByRole("button", { name: "the README" }).click();
    for (const tab of [page, other]) await tab.getByText("You said: the README").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);

/** An engineer in a box: each message makes one call. */
const ENGINEER: TestAppOptions = {
  template: { permission: { ...presets.readOnly, allow: ["bash_run(command:node fetch.mjs)"] } },
  script: {
    replies: [
      { when: { user: "^mend" }, call: [{ tool: "fs_read", input: { path: "a.txt" } }] },
      {
        when: { result: "fs_read" },
        call: [{ tool: "fs_edit", input: { path: "a.txt", old_string: "bad", new_string: "good" } }],
      },
      { when: { user: "^list$" }, call: [{ tool: "bash_run", input: { command: "ls", background: true } }] },
      { when: { user: "^run (?<line>.*)$" }, call: [{ tool: "bash_run", input: { command: "{{line}}" } }] },
      { when: { result: "bash_run" }, say: ["It said: {{result}}"] },
      { when: {}, say: ["Mended."] },
    ],
  },
};

/** Asks for a page through the proxy of the box. */
const FETCH = `import { get } from "node:http";
get({ host: "127.0.0.1", port: 3128, path: "http://first.invalid/" }, (answer) =>
  answer.on("data", (data) => console.log(answer.statusCode + " " + data)));
`;

/** Opens an app before a server with a workspace of the test's own. */
async function openEngineer(app: string, options: TestAppOptions) {
  const server = await startTestApp(options);
  const folder = join(server.workspace, "examples/workspace");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "a.txt"), "one\nbad\nthree\n");
  await writeFile(join(folder, "fetch.mjs"), FETCH);
  const { page, complaints } = await openPage();
  await page.goto(await serve(app, server.url));
  return { page, complaints, server, folder, conversation: page.getByRole("list", { name: "Conversation" }) };
}

inBrowser(
  "examples/%s: the diff of an edit before it is allowed, what something else changes, a background shell, the part of a command line that asks, and a rule that is changed before it is stored",
  { timeout: 60_000 },
  async (app) => {
    const { page, complaints, folder, conversation } = await openEngineer(app, ENGINEER);
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await send(page, "mend it");
    const change = page.getByRole("figure", { name: "Change of a.txt" });
    await change.waitFor();
    expect(await change.locator(".removed").allInnerTexts()).toEqual(["-bad\n"]);
    expect(await change.locator(".added").allInnerTexts()).toEqual(["+good\n"]);
    expect(await readFile(join(folder, "a.txt"), "utf8")).toContain("bad");
    await screenshot(page, `${app}-change`);
    await button("Allow").click();
    await conversation.getByText("Mended.").waitFor();
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("one\ngood\nthree\n");

    await writeFile(join(folder, "a.txt"), "one\nbetter\nthree\n");
    await send(page, "list");
    await conversation.getByText("a.txt was changed by something else").waitFor();
    await conversation.getByText("ls ended with exit code 0").waitFor();
    await conversation.getByText("It said:").waitFor();

    await send(page, "run git status && make build");
    await conversation.locator("mark").waitFor();
    expect(await conversation.locator("mark").allInnerTexts()).toEqual(["make build"]);
    expect(await page.getByRole("list", { name: "Why it asks" }).innerText()).toContain("make build is not known to only read");
    await button("Always …").click();
    const rule = page.getByLabel("Rule");
    await expect.poll(() => rule.inputValue()).toBe('bash_run(command:"{git status,make build}")');
    const matching = page.getByRole("list", { name: "It takes in", exact: true });
    const notMatching = page.getByRole("list", { name: "It does not take in", exact: true });
    await matching.waitFor();
    expect(await matching.innerText()).toBe("git status && make build");
    expect(await notMatching.innerText()).toContain("make build");
    await screenshot(page, `${app}-rule`);
    const store = button("Store the rule, and allow");
    await rule.fill("bash_run(command:npm *)");
    await page.getByText("the rule does not match the call of this approval").waitFor();
    expect(await store.isDisabled()).toBe(true);
    const warning = page
      .getByRole("alert")
      .filter({ hasText: "Careful: it takes in every call of this tool, also what is not shown here." });
    expect(await warning.count()).toBe(0);
    await rule.fill("bash_run");
    await warning.waitFor();
    await screenshot(page, `${app}-wide-rule`);
    await rule.fill('bash_run(command:"{git status,make *}")');
    await matching.waitFor();
    expect(await warning.count()).toBe(0);
    await store.click();
    await expect.poll(() => conversation.getByText("It said:").count()).toBe(2);
    await send(page, "run make test");
    await expect.poll(() => conversation.getByText("It said:").count()).toBe(3);
    expect(await page.getByRole("region", { name: "Approval" }).count()).toBe(2);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: the value of an answer in a shape, and the problems of one without it",
  { timeout: 60_000 },
  async (app) => {
    const outputSchema = { type: "object", required: ["files"] };
    const { page, complaints, conversation } = await openEngineer(app, {
      template: { outputSchema, corrections: 0 },
      script: {
        replies: [
          { when: { user: "^count" }, say: ['{"files":2}'] },
          { when: {}, say: ["{}"] },
        ],
      },
    });
    await send(page, "count");
    const value = conversation.getByRole("figure", { name: "Value" });
    await value.waitFor();
    expect(await value.textContent()).toBe('{\n  "files": 2\n}');
    await send(page, "and now?");
    await conversation.getByText("The turn ended: SHAPE").waitFor();
    await conversation.getByRole("list", { name: "Problems" }).getByText("/: must have required property 'files'").waitFor();
    await screenshot(page, `${app}-value`);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: thoughts, the progress of a tool, todos, tokens and an error, and an agent of before that is opened again",
  { timeout: 60_000 },
  async (app) => {
    const going = Promise.withResolvers<void>();
    const crawl = ownTool("crawl", async (_input, { emit }) => {
      await emit("pages", { read: 3 });
      await going.promise;
      return { output: "crawled", details: null };
    });
    const todos = [{ id: "1", title: "Look at the pages", status: "in_progress" }];
    const { page, complaints, conversation } = await openEngineer(app, {
      config: { tools: [crawl] },
      template: { exposeThinking: true, permission: { mode: "auto" } },
      script: {
        replies: [
          { when: { user: "^crawl" }, think: "I plan first.", call: [{ tool: "todo_write", input: { todos } }] },
          { when: { result: "todo_write" }, call: [{ tool: "crawl", input: {} }] },
          { when: { result: "crawl" }, say: ["It is crawled."] },
          { when: { user: "^fail" }, fail: "no such model" },
          { when: {}, say: ["Hello."] },
        ],
      },
    });
    await send(page, "crawl it");
    await conversation.getByText("thought", { exact: true }).waitFor();
    await conversation.getByText('pages {"read":3}').waitFor();
    await page.getByRole("list", { name: "Todos" }).getByText("Look at the pages").waitFor();
    going.resolve();
    await conversation.getByText("It is crawled.").waitFor();
    await page.getByText(/^\d+ tokens/).waitFor();
    await screenshot(page, `${app}-standing`);
    await send(page, "fail");
    await conversation.getByText("no such model").waitFor();
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByText("no agent yet").waitFor();
    await page.getByText("Your agents").click();
    await page.getByRole("list", { name: "Your agents" }).getByRole("button").first().click();
    await conversation.getByText("It is crawled.").waitFor();
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: what came of a call whose server died, in words that the model is given",
  { timeout: 60_000 },
  async (app) => {
    const { page, complaints, server, conversation } = await openEngineer(app, {
      config: { tools: [ownTool("deploy", () => new Promise(() => {}), false)] },
      template: { unknownOutcome: "ask", permission: { mode: "auto" } },
      script: {
        replies: [
          { when: { result: "deploy" }, say: ["It said: {{result}}"] },
          { when: {}, call: [{ tool: "deploy", input: {} }] },
        ],
      },
      overrides: { leaseTimes: SHORT_LEASES },
    });
    await send(page, "deploy it");
    await conversation.getByText("EXECUTING").waitFor();
    await loseLeases(server);
    const done = page.getByRole("form", { name: "It was done" }).getByRole("button");
    await done.waitFor();
    const result = page.getByRole("textbox", { name: "What came of it, for the model", exact: true });
    for (const nothing of ["", "  "]) {
      await result.fill(nothing);
      expect(await done.isDisabled()).toBe(true);
    }
    await result.fill("version 7 is live");
    await screenshot(page, `${app}-outcome`);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await conversation.getByText("It said: version 7 is live").waitFor();
    expect(await conversation.getByText("DONE by local").count()).toBe(1);
    expect(complaints).toEqual([]);
  },
);

inBrowser(
  "examples/%s: a host that a program in a box asks for, allowed for the agent",
  { timeout: 60_000, skip: hasNoBox },
  async (app) => {
    const { page, complaints, conversation } = await openEngineer(app, {
      ...ENGINEER,
      template: { ...ENGINEER.template, sandbox: "required" },
      config: { sandbox: { hosts: [] } },
    });
    await send(page, "run node fetch.mjs");
    const question = page.getByRole("region", { name: "Approval" });
    await question.getByText("May first.invalid:80 be reached?").waitFor();
    expect(await page.getByRole("list", { name: "Calls that would reach it" }).innerText()).toContain("node fetch.mjs");
    await question.getByRole("button", { name: "Always …" }).click();
    await expect.poll(() => page.getByLabel("Rule").inputValue()).toBe("network(host:first.invalid)");
    await page.getByLabel("Rule").fill("network");
    await page.getByRole("alert").filter({ hasText: "Careful: it takes in every host, also what is not shown here." }).waitFor();
    await screenshot(page, `${app}-host`);
    await question.getByRole("button", { name: "Allow for this agent" }).click();
    await conversation.getByText("It said: 403 first.invalid:80").waitFor();
    await send(page, "run node fetch.mjs");
    // The name has no address: the proxy tried it.
    await conversation.getByText("It said: 502 first.invalid has no address").waitFor();
    expect(await question.count()).toBe(1);
    expect(complaints).toEqual([]);
  },
);

// What both apps share does it.
withChromium(
  "examples: what is typed while a message is sent stays, and a message that could not be sent comes back before it",
  { timeout: 60_000 },
  async () => {
    const { page, complaints, conversation } = await openEngineer("react-urql", ENGINEER);
    let sending = Promise.withResolvers<"goes" | "is lost">();
    await page.route("**/graphql", async (route) => {
      const isMessage = route.request().postData()?.includes("sendMessage") === true;
      await (isMessage && (await sending.promise) === "is lost" ? route.abort() : route.continue());
    });
    const message = page.getByLabel("Message");
    const button = page.getByRole("button", { name: "Send" });
    await send(page, "first");
    await expect.poll(() => message.inputValue()).toBe("");
    await message.fill("second");
    sending.resolve("goes");
    await conversation.getByText("Mended.").waitFor();
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(await message.inputValue()).toBe("second");

    sending = Promise.withResolvers();
    await button.click();
    await expect.poll(() => message.inputValue()).toBe("");
    sending.resolve("is lost");
    await expect.poll(() => message.inputValue()).toBe("second");

    sending = Promise.withResolvers();
    await button.click();
    await message.fill("third");
    sending.resolve("is lost");
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(await message.inputValue()).toBe("second third");
    expect(complaints).toEqual([]);
  },
);
