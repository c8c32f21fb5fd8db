import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { httpServer } from "../support/mcp-http.ts";
import { ownServer, QUICK } from "../support/mcp.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";

describe("an error of a server (JSON-RPC) that looks like a status of HTTP", () => {
  it.each([
    { code: 404, message: "no such issue" },
    { code: -32603, message: "no such issue", data: { status: 404 } },
  ])("is its answer, and the call is not made again: $code", async (error) => {
    const file = join(await temporaryFolder(), "calls");
    const { client } = await appWith({ own: ownServer("counting.mjs", file, JSON.stringify(error)) }, ["mcp__own__work", {}], {
      template: allowed("own"),
    });
    const answer = await answerOf(client);
    expect(await readFile(file, "utf8")).toBe("called\n");
    expect(answer).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("no such issue") } });
  });
});

describe("a tool whose definition is the same in the next list", () => {
  it("stays the same object, by which verdicts know that they hold", async () => {
    const server = await httpServer(() => null);
    const { tools } = await appWith({ own: { url: server.url } }, ["mcp__own__work", {}], {
      overrides: { mcpTimes: { ...QUICK, againMs: 20 } },
    });
    await expect.poll(() => tools.get("mcp__own__work")).toBeDefined();
    const before = tools.get("mcp__own__work");
    const lists = () => server.arrived.filter(({ method }) => method === "tools/list").length;
    const times = lists();
    await expect.poll(lists).toBeGreaterThan(times + 2);
    expect(tools.get("mcp__own__work")).toBe(before);
  });
});
