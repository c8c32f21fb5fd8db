import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { startTestApp } from "../support/app.ts";

const QUERY = "subscription { timeline { cursor } }";

describe("a server that closes", () => {
  it("tells WebSockets with 1001, ends SSE streams without `complete`, and does not wait for a socket that hears nothing", async () => {
    const app = await startTestApp();
    const [healthy, deaf] = [
      new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws"),
      new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws"),
    ];
    onTestFinished(() => deaf.terminate());
    await Promise.all([once(healthy, "open"), once(deaf, "open")]);
    deaf.pause();
    const stream = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ query: QUERY }),
    });
    const closed = once(healthy, "close") as Promise<[number]>;
    const text = stream.text();
    text.catch(() => {});
    await app.close();
    expect((await closed)[0]).toBe(1001);
    await expect(text).rejects.toThrow("terminated");
  });
});
