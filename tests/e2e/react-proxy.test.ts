import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { shared } from "@triplane/example-react-shared/vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createServer, preview, type InlineConfig, type ProxyOptions } from "vite";
import WebSocket from "ws";
import { startTestApp, temporaryFolder } from "../support/app.ts";

/** Serves an empty page as `npm run app:…` serves the apps, or as they are served once they are built. Answers the port. */
const serves: Readonly<Record<string, (config: InlineConfig) => Promise<number>>> = {
  "the development server": async (config) => {
    const server = await createServer({ ...config, server: { ...config.server, host: "127.0.0.1", port: 0 } });
    onTestFinished(() => server.close());
    await server.listen();
    return portOf(server.httpServer?.address());
  },
  "the server of the built app": async (config) => {
    const server = await preview({ ...config, preview: { ...config.preview, host: "127.0.0.1", port: 0 } });
    onTestFinished(() => server.close());
    return portOf(server.httpServer.address());
  },
};

function portOf(address: unknown): number {
  if (typeof address !== "object" || address === null || !("port" in address)) throw new Error("the app is not served");
  return Number(address.port);
}

type Headers = Readonly<Record<string, string>>;

/** The status of the answer to an operation over HTTP. */
async function postedStatus(port: number, headers: Headers): Promise<number | undefined> {
  const asking = request({
    port,
    host: "127.0.0.1",
    path: "/graphql",
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
  });
  asking.end('{"query":"{ __typename }"}');
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** The status of the answer to the upgrade of a WebSocket: 101 if it opens. */
async function upgradeStatus(port: number, headers: Headers): Promise<number | undefined> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, "graphql-transport-ws", { headers });
  // One that is refused ends with an error, too.
  socket.on("error", () => {});
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.on("upgrade", ({ statusCode }) => resolve(statusCode));
    socket.on("unexpected-response", (_request, { statusCode }) => resolve(statusCode));
  });
}

describe.for(Object.keys(serves))("%s of the example apps", (name) => {
  it("hands on what its own page and programs ask, and nothing of other pages or under other names", async () => {
    const app = await startTestApp();
    vi.stubEnv("TRIPLANE_URL", new URL(app.url).origin);
    const port = await serves[name]?.({ ...shared(), configFile: false, root: await temporaryFolder(), logLevel: "silent" });
    if (port === undefined) throw new Error(name);

    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      for (const own of [{ host }, { host, origin: `http://${host}` }]) {
        expect([own, await upgradeStatus(port, own)]).toEqual([own, 101]);
        expect([own, await postedStatus(port, own)]).toEqual([own, 200]);
      }
    }
    const host = `localhost:${port}`;
    const foreign = [
      { host, origin: "https://evil.example" },
      { host, origin: "http://localhost:1" },
      { host, origin: "null" },
      { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      { host: "localhost.evil.example" },
      { host: `127.0.0.1.evil.example:${port}` },
    ];
    for (const headers of foreign) {
      expect([headers, await upgradeStatus(port, headers)]).toEqual([headers, 404]);
      // Vite refuses other names itself, with 403.
      expect([headers, await postedStatus(port, headers)]).toEqual([headers, expect.toBeOneOf([403, 404])]);
    }
  });
});

it("the proxy of docs/frontend.md hands on Host and Origin as they come, and Triplane refuses by itself what is foreign", async () => {
  const app = await startTestApp();
  const guide = await readFile(new URL("../../docs/frontend.md", import.meta.url), "utf8");
  const [, said] = /server: \{ proxy: (\{ .* \}) \}/.exec(guide) ?? [];
  if (said === undefined) throw new Error("docs/frontend.md has no proxy");
  const target = new URL(app.url).origin;
  const proxy = JSON.parse(said.replaceAll(/([{,] )(\w+):/g, '$1"$2":').replace("http://127.0.0.1:4000", target)) as Record<
    string,
    ProxyOptions
  >;
  const serve = serves["the development server"];
  const port = await serve?.({ server: { proxy }, configFile: false, root: await temporaryFolder(), logLevel: "silent" });
  if (port === undefined) throw new Error("nothing is served");
  const host = `localhost:${port}`;
  for (const [headers, http, upgrade] of [
    [{ host, origin: `http://${host}` }, 200, 101],
    [{ host }, 200, 101],
    [{ host, origin: "https://evil.example" }, 403, 403],
  ] as const) {
    expect([headers, await postedStatus(port, headers)]).toEqual([headers, http]);
    expect([headers, await upgradeStatus(port, headers)]).toEqual([headers, upgrade]);
  }
});
