import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { ownServer } from "../support/mcp.ts";
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
