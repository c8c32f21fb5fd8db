import { describe, expect, it } from "vitest";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { httpServer } from "../support/mcp-http.ts";

const WORK = ["mcp__own__work", {}] as const;
const STREAM = { "content-type": "text/event-stream" };

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
const pings = (count: number): string =>
  Array.from({ length: count }, (_, index) => event({ id: `p${index}`, method: "ping" })).join("");

describe("a server at an address that asks while a call runs", () => {
  it("and never takes the answers is left, and the call fails", async () => {
    let held = 0;
    const { url } = await httpServer(({ method }) => {
      if (method === "tools/call") return (response) => response.writeHead(200, STREAM).write(pings(1_000));
      return method === undefined ? () => (held += 1) : null;
    });
    const { client, tools } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    const call = await answerOf(client);
    expect(call).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("does not take the answers") } });
    expect(held).toBeLessThanOrEqual(64);
    await expect.poll(() => tools.get("mcp__own__work")?.unavailable).toBeNull();
  });

  it("and opens a stream without an end for each answer keeps none of them open", async () => {
    const open = new Set<object>();
    let most = 0;
    let answered = 0;
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const { url } = await httpServer(({ method, id }) => {
      if (method === "tools/call")
        return (response) => {
          response.writeHead(200, STREAM).write(pings(40));
          void all.then(() => response.end(event({ id, result: { content: [{ type: "text", text: "done" }] } })));
        };
      if (method !== undefined) return null;
      return (response) => {
        open.add(response);
        most = Math.max(most, open.size);
        const more = (): void => void (response.destroyed || response.write(pings(1_000), () => setImmediate(more)));
        response.writeHead(200, STREAM);
        response.once("close", () => {
          open.delete(response);
          answered += 1;
          if (answered === 40) resolve();
        });
        more();
      };
    });
    const { client } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "done" });
    expect(most).toBeLessThanOrEqual(40);
    expect(open.size).toBe(0);
  });
});
