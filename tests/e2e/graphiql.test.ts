import { expect, it } from "vitest";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { chromiumPath, openPage, policyViolations, screenshot } from "../support/browser.ts";
import { connect } from "../support/client.ts";

// Continuous integration installs Chromium: there the tests always run.
const withChromium = it.skipIf(chromiumPath === null && process.env["CI"] === undefined);

withChromium(
  "GraphiQL of a server with actors takes the token once, and has operations of the templates that are there",
  { timeout: 60_000 },
  async () => {
    const app = await startTestApp({
      config: { ...NEIGHBOURS, templates: { writer: { model: "test", systemPrompt: "You write." } } },
    });
    const { page, complaints } = await openPage();
    const violations = await policyViolations(page);
    await page.setViewportSize({ width: 1_300, height: 900 });
    await page.goto(app.url);
    const who = page.locator("#triplane-who");
    await who.getByText("no token was given").or(who.getByText("token")).waitFor();
    await page.getByLabel("Token").fill("anna-token");
    await page.getByRole("button", { name: "Use it" }).click();
    await who.getByText("anna (user) of acme").waitFor();
    await page.getByText('templateId: "writer"').first().waitFor();
    // The schema is there: completion and docs work.
    await page.getByRole("button", { name: /Execute query/ }).click();
    const anna = connect(app.url, "anna-token");
    const agents = async (): Promise<string[]> => {
      const { data } = await anna.post<{ agents: { nodes: { id: string }[] } }>({ query: "{ agents { nodes { id } } }" });
      return data?.agents.nodes.map(({ id }) => id) ?? [];
    };
    await expect.poll(agents).toHaveLength(1);
    const [id = ""] = await agents();
    // Its editor breaks long lines, and ids with them.
    await page.locator(".graphiql-response").getByText("READY").first().waitFor();
    await screenshot(page, "graphiql");

    // A subscription goes over a WebSocket, with the same token.
    const watch = `subscription { timeline(agentIds: ["${id}"], since: "0") { events { kind } } }`;
    await page.goto(`${app.url}?query=${encodeURIComponent(watch)}`);
    await who.getByText("anna (user) of acme").waitFor();
    await page.getByRole("button", { name: /Execute query/ }).click();
    await page.getByText("AGENT_CREATED").first().waitFor();
    expect(complaints).toEqual([]);
    expect(await violations()).toEqual([]);
  },
);

withChromium(
  "GraphiQL of a server without actors knows the local administrator, and the example's folder",
  { timeout: 60_000 },
  async () => {
    const app = await startTestApp();
    const { page, complaints } = await openPage();
    const violations = await policyViolations(page);
    await page.goto(app.url);
    await page.locator("#triplane-who").getByText("of local").waitFor();
    await page.getByText('templateId: "assistant", workspace: "examples/workspace"').first().waitFor();
    expect(complaints).toEqual([]);
    // The editor's workers answer: they complete what is written.
    await page.locator(".graphiql-editor textarea, .graphiql-editor [contenteditable]").first().waitFor({ state: "attached" });
    expect(await violations()).toEqual([]);
    // The policy holds: what is written into the page by somebody else does not run.
    const ran = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.strange = 1";
      document.body.append(script);
      await new Promise((resolve) => setTimeout(resolve, 0));
      return "strange" in window;
    });
    expect(ran).toBe(false);
    expect(await violations()).toEqual([expect.stringContaining("script-src-elem inline")]);
  },
);
