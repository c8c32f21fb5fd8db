import { describe, expect, it } from "vitest";
import { ownServer } from "../support/mcp.ts";
import { appWith } from "../support/mcp-app.ts";
import { QUICK } from "../support/mcp.ts";

describe("a tool whose definition is the same in the next list", () => {
  it("stays the same object, as verdicts need it", async () => {
    const { tools } = await appWith({ own: ownServer("plain.mjs") }, ["mcp__own__work", {}], { overrides: { mcpTimes: { ...QUICK, againMs: 50 } } });
    await expect.poll(() => tools.get("mcp__own__work")).toBeDefined();
    const first = tools.get("mcp__own__work");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(tools.get("mcp__own__work")).toBe(first);
  });
});
