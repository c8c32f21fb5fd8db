import { expect } from "vitest";
import { CompactAgentDocument } from "../generated/documents.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage, pictures } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { SCRIPT } from "../support/office.ts";
import { TEAM } from "../support/scripted-team.ts";
import { windowedModel } from "../support/windowed-model.ts";

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-/;

withChromium(
  "console: a conversation says who denied a call, and where earlier messages were summarized, in both languages",
  { timeout: 120_000 },
  async () => {
    const model = windowedModel({
      window: 20_000,
      reply: ({ messages }) =>
        JSON.stringify(messages.at(-1)).includes("write it")
          ? { tool: "fs_write", input: { path: "a.txt", content: "text" } }
          : { text: "ok" },
      summary: () => "Facts: blue.",
    });
    const { app, page, complaints, open } = await consolePage({ model, template: { tools: ["fs_write"] } });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    for (const turn of [0, 1, 2]) await client.turn(agentId, `${turn} ${"m".repeat(4_000)}`);
    await client.get(CompactAgentDocument, { input: { agentId } });
    await client.until(agentId, "CONTEXT_COMPRESSION");
    await client.send(agentId, "write it");
    await client.until(agentId, "PERMISSION_REQUIRED");
    await open(`/console/agents/${agentId}`);
    const conversation = page.getByRole("group", { name: "Conversation" });
    await conversation.getByText("asks", { exact: true }).first().waitFor();
    const { data } = await client.post<{ approvals: { nodes: { id: string }[] } }>({ query: "{ approvals { nodes { id } } }" });
    const approvalId = data?.approvals.nodes[0]?.id ?? "";
    await client.decide({ approvalId, decision: "DENY", note: "Keep the cache." });
    await conversation.getByText("Denied by local: Keep the cache.").waitFor();
    const summary = conversation.locator("summary", { hasText: /^Earlier messages were summarized · \S+ → \S+ tokens$/ });
    await summary.waitFor();
    expect(await conversation.getByText("Facts: blue.").isVisible()).toBe(false);
    const place = await conversation.locator(".items > li").evaluateAll((items) => items.map(({ className }) => className));
    expect(place.lastIndexOf("item message")).toBeGreaterThan(place.indexOf("item compaction"));
    await summary.press("Enter");
    await conversation.getByText("Facts: blue.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-conversation-words");
    await page.getByLabel("Language").selectOption("zh");
    await page.getByText("local 已拒绝：Keep the cache.").waitFor();
    await page.getByText("较早的消息已被概括").waitFor();
    await pictures(page, "console-conversation-words-zh");
    expect(complaints).toEqual([]);
  },
);

withChromium(
  "console: the list and the page of an agent link what it waits for, and fold only agents that have others below them",
  { timeout: 120_000 },
  async () => {
    const { app, page, complaints, open } = await consolePage(TEAM);
    const client = connect(app.url);
    const { id: lone } = await client.createAgent({ title: "Lone" });
    await client.turn(lone, "hello");
    const { id } = await client.createAgent({ title: "Team" });
    await client.send(id, "split the work");
    await open("/console/agents");
    const row = page.getByRole("row").filter({ hasText: "Team" });
    const waited = row.getByRole("link", { name: /^write a\.txt \([0-9a-f]{8}\)$/ });
    await waited.waitFor();
    expect(await row.innerText()).not.toMatch(ID);
    const words = row.locator(".waits-cell > span");
    expect(await words.getAttribute("lang")).toBe("en");
    expect(await page.getByRole("row").filter({ hasText: "Lone" }).getByRole("button").count()).toBe(0);
    await row.getByRole("button", { name: "Agents below it" }).press("Enter");
    const child = page.getByRole("row").filter({ hasText: "worker “write a.txt”" });
    await child.getByRole("link", { name: "fs_write" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await pictures(page, "console-agents-awaited");
    await waited.press("Enter");
    await page.getByRole("heading", { name: /write a\.txt/ }).waitFor();
    const head = page.locator(".waits-for");
    await head.getByText("a person to decide on").waitFor();
    await head.getByRole("link", { name: "fs_write" }).press("Enter");
    await page.locator(".sentence", { hasText: "a.txt" }).waitFor();
    expect(complaints).toEqual([]);
  },
);

withChromium("console: a disabled button says why, beside it", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({ script: SCRIPT });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "hello");
  /** The visible words that a button names as its description. */
  const reasonOf = async (name: string): Promise<string> => {
    const button = page.getByRole("button", { name, exact: true });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute("title")).toBeNull();
    return page.locator(`[id="${await button.getAttribute("aria-describedby")}"]`).innerText();
  };
  await open(`/console/agents/${id}`);
  expect(await reasonOf("Interrupt")).toBe("Interrupt: no turn runs.");
  expect(await reasonOf("Retry")).toBe("Retry: no turn failed.");
  expect(await axeViolations(page)).toEqual([]);
  await pictures(page, "console-agent-disabled");
  await page.getByRole("button", { name: "Archive" }).press("Enter");
  await page.getByRole("button", { name: "Restore" }).waitFor();
  for (const name of ["Interrupt", "Retry", "Compact"]) expect(await reasonOf(name)).toBe("The agent is archived.");
  await open("/console/policy?view=explain");
  expect(await reasonOf("Explain")).toBe("Name a call or agent.");
  await pictures(page, "console-explain-disabled");
  await page.getByLabel("Language").selectOption("zh");
  expect(await reasonOf("解释")).toBe("请先填写调用或智能体。");
  expect(complaints).toEqual([]);
});
