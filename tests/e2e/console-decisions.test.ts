import { expect } from "vitest";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, pictures, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";

const SCRIPT = {
  replies: [
    { when: { user: "^run" }, call: [{ tool: "bash_run", input: { command: "ls && make build" } }] },
    { when: {}, say: ["Done."] },
  ],
};

withChromium("console: words survive an input method, and the focus stays at the question", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent({ title: "Runner" });
  await client.send(agentId, "run it");
  await page.goto(new URL("/console", app.url).href);
  await page.getByRole("button", { name: "Deny …" }).waitFor();
  await page.keyboard.press("d");
  const words = page.getByRole("textbox", { name: "Words for the model" });
  await words.fill("不要");
  await words.dispatchEvent("keydown", { key: "Escape", isComposing: true, bubbles: true });
  expect(await words.inputValue()).toBe("不要");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await page.evaluate("document.activeElement.className")).toBe("decision");
  await page.keyboard.press("d");
  await words.fill("Not now.");
  await page.locator(".sentence").click();
  await page.keyboard.press("e");
  expect(await words.inputValue()).toBe("Not now.");
  expect(complaints).toEqual([]);
});

withChromium("console: an edited input has the server's errors, and a rule can end by itself", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({
    script: SCRIPT,
    template: { permission: { mode: "approval", allow: ["bash_run(command:ls)"] } },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent({ title: "Runner" });
  await client.send(agentId, "run it");
  await open("/console");
  await page.getByRole("button", { name: "Edit and allow" }).waitFor();
  await page.keyboard.press("e");
  const timeout = page.getByRole("spinbutton", { name: "timeout_ms" });
  await timeout.fill("-1");
  await page.locator(".field").filter({ has: timeout }).getByRole("alert").waitFor();
  await untilSeen(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText("timeout_ms: must be").waitFor();
  await timeout.fill("");
  await page.getByRole("textbox", { name: "command" }).fill("ls");
  await page.getByText("This input would run without a question").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await page.keyboard.press("a");
  await page.getByLabel("Its end").selectOption({ label: "after 7 days" });
  await page.getByText("In the last 30 days:").waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Store the rule, and allow" }).click();
  await page.getByText("Nothing waits for a decision.").waitFor();
  const latest = page.getByText("Your latest decision:");
  await latest.getByText("allowed").waitFor();
  await latest.getByRole("link", { name: "Open the question" }).waitFor();
  await open("/console/policy");
  const row = page.getByRole("row").filter({ hasText: "make build" });
  await row.getByText("in 7 days").or(row.getByText("in 6 days")).waitFor();
  expect(complaints).toEqual([]);
});

withChromium("console: a decision that came too late is said", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  for (const title of ["First", "Second"]) {
    const { id } = await client.createAgent({ title });
    await client.send(id, "run it");
  }
  let other: string | null = null;
  await page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as {
      readonly query: string;
      readonly variables: { readonly input?: { readonly approvalId: string } };
    };
    const approvalId = asked.variables.input?.approvalId;
    if (asked.query.startsWith("mutation Decide") && approvalId !== undefined) {
      other = approvalId;
      await client.decide({ approvalId, decision: "DENY" });
    }
    await route.continue();
  });
  await page.goto(new URL("/console", app.url).href);
  await expect.poll(() => page.title()).toBe("(2) Triplane");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await untilSeen(page);
  await page.getByRole("button", { name: "Allow once" }).click();
  const refusal = page.getByRole("alert").filter({ hasText: "Your decision was not taken:" });
  await refusal.waitFor();
  expect(await refusal.innerText()).toContain("already decided");
  await refusal.getByRole("link", { name: "Open the question" }).click();
  await page.getByText("local has decided it.").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/inbox/${String(other)}`);
  await page.keyboard.press("j");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await refusal.count()).toBe(0);
  expect(complaints).toEqual([]);
});

withChromium("console: no character hides in a sentence, a rule and a field", { timeout: 120_000 }, async () => {
  const { app, page, complaints } = await consolePage({
    script: {
      replies: [{ when: { user: "^write" }, call: [{ tool: "fs_write", input: { path: "a\u202efdp.md", content: "x" } }] }],
    },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent({ title: "Writer" });
  await client.send(agentId, "write it");
  await page.goto(new URL("/console", app.url).href);
  await page.locator(".sentence", { hasText: "a\\u202efdp.md" }).waitFor();
  await page.getByText("This rule would have let it run: fs_write(path:/a\\u202efdp.md").waitFor();
  await page.keyboard.press("a");
  await page.getByText("This text has hidden characters: \\u202e").waitFor();
  expect(await page.locator("body").innerText()).not.toContain("\u202e");
  expect(complaints).toEqual([]);
});

withChromium(
  "console: the reach of a command names its files, paths outside of the folder and hosts",
  { timeout: 120_000 },
  async () => {
    const command = "cp notes.md /tmp/elsewhere.md && curl https://api.example.org:8443/v1";
    const { app, page, complaints, open } = await consolePage({
      script: { replies: [{ when: { user: "^run" }, call: [{ tool: "bash_run", input: { command } }] }] },
    });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent({ title: "Runner" });
    await client.send(agentId, "run it");
    await open("/console");
    const reach = page.getByRole("region", { name: "Reach" });
    await reach.waitFor();
    expect(await reach.innerText()).toMatch(
      /Files\s+notes\.md[^]*Known paths outside the folder\s+\/tmp\/elsewhere\.md[^]*Hosts\s+api\.example\.org:8443/,
    );
    expect(await page.getByRole("region", { name: "Why it asks" }).locator("[lang=en]").count()).toBeGreaterThan(0);
    expect(await axeViolations(page)).toEqual([]);
    await reach.scrollIntoViewIfNeeded();
    await pictures(page, "console-reach");
    expect(complaints).toEqual([]);
  },
);
