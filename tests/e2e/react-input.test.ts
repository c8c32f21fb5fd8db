import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { openPage, screenshot } from "../support/browser.ts";
import { inBrowser, send, serve } from "../support/example-app.ts";
import { allowed, appWith } from "../support/mcp-app.ts";
import { asks } from "../support/mcp-asking.ts";
import { ownServer } from "../support/mcp.ts";

inBrowser(
  "examples/%s: the form of a tool's question, with defaults, required marks and errors, sent and declined",
  { timeout: 60_000 },
  async (app) => {
    const call = ["mcp__own__work", { ask: [asks().params, asks({ type: "object", properties: {} }, "Sure?").params] }] as const;
    const { app: server } = await appWith({ own: ownServer("asking.mjs") }, call, {
      template: { ...allowed("own"), selfApproval: true },
    });
    await mkdir(join(server.workspace, "examples/workspace"), { recursive: true });
    const { page, complaints } = await openPage();
    await page.goto(await serve(app, server.url));
    await send(page, "book a room");
    const form = page.getByRole("form", { name: "Input for own" });
    await form.getByText("Which hotel?").waitFor();
    expect(await form.getByLabel("nights").inputValue()).toBe("2");
    expect(await form.getByLabel("breakfast").isChecked()).toBe(true);
    expect(await form.getByLabel("room").locator("option:checked").innerText()).toBe("Single");
    expect(await form.getByLabel("extras").locator("option").allInnerTexts()).toEqual(["TV", "Bar"]);
    expect(await form.getByLabel("City").getAttribute("required")).not.toBeNull();
    await form.getByText("Where to").waitFor();
    await form.getByLabel("nights").fill("1.5");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByRole("alert").filter({ hasText: "city is required" }).waitFor();
    await form.getByRole("alert").filter({ hasText: "nights must be a whole number" }).waitFor();
    await screenshot(page, `${app}-input`);
    await form.getByLabel("City").fill("Bonn");
    await form.getByLabel("nights").fill("3");
    await form.getByLabel("extras").selectOption(["bar"]);
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("Sure?").waitFor();
    await form.getByRole("button", { name: "Confirm" }).waitFor();
    await page.reload();
    await form.getByRole("button", { name: "Decline" }).click();
    const conversation = page.getByRole("list", { name: "Conversation" });
    await conversation.getByText("Done.").waitFor();
    expect(await conversation.innerText()).toContain("Denied by local");
    const rows = await server.database.sql.query<{ output: string }, []>({ name: "", text: "SELECT output FROM tool_call" }, []);
    expect(JSON.parse(rows[0]?.output ?? "")).toEqual([
      { action: "accept", content: { city: "Bonn", nights: 3, breakfast: true, room: "s", extras: ["bar"] } },
      { action: "decline" },
    ]);
    expect(complaints).toEqual([]);
  },
);
