import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp, temporaryFolder, type TestApp } from "../support/app.ts";
import { chromiumPath, openPage } from "../support/browser.ts";
import { hasNoNginx, startNginx } from "../support/nginx.ts";

// Continuous integration installs Chromium: there the tests always run.
const hasNoChromium = chromiumPath === null && process.env["CI"] === undefined;
const withChromium = it.skipIf(hasNoChromium);

const own = (app: TestApp): string => `http://127.0.0.1:${app.port}`;

/** A page of another origin of the same site: browsers send it the cookies of this host, whatever their port. */
async function neighbour(): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Neighbour</title>"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Runs in a page: what the answers to the console's session and to an operation are, for a page of any origin. */
async function tries(origin: string): Promise<Record<string, string | number>> {
  const status = (path: string, init: RequestInit): Promise<string | number> =>
    fetch(`${origin}${path}`, { credentials: "include", ...init }).then(
      (response) => (response.type === "opaque" ? "sent, unread" : response.status),
      () => "blocked",
    );
  const json = { "content-type": "application/json" };
  const console = { "x-triplane-console": "1" };
  const mutation = JSON.stringify({ query: 'mutation { createAgent(input: { templateId: "assistant" }) { agent { id } } }' });
  const query = JSON.stringify({ query: "{ viewer { tenant } }" });
  const socket = (connectionParams: object): Promise<string | number> =>
    new Promise((resolve) => {
      const ws = new WebSocket(`${origin.replace(/^http/, "ws")}/graphql`, "graphql-transport-ws");
      ws.addEventListener("open", () => ws.send(JSON.stringify({ type: "connection_init", payload: connectionParams })));
      ws.addEventListener("message", ({ data }) => {
        resolve((JSON.parse(String(data)) as { type: string }).type);
        ws.close();
      });
      ws.addEventListener("close", ({ code }) => resolve(code));
    });
  return {
    visible: document.cookie,
    withHeader: await status("/graphql", { method: "POST", headers: { ...json, ...console }, body: query }),
    withoutHeader: await status("/graphql", { method: "POST", headers: json, body: query }),
    simplePost: await status("/graphql", {
      method: "POST",
      mode: "no-cors",
      headers: { "content-type": "text/plain" },
      body: mutation,
    }),
    get: await status(`/graphql?query=${encodeURIComponent("{ viewer { tenant } }")}`, { mode: "no-cors" }),
    session: await status("/console/session", { headers: console }),
    signOut: await status("/console/session", { method: "DELETE", headers: console }),
    socket: await socket(console),
    socketWithoutField: await socket({}),
  };
}

withChromium(
  "a browser keeps the session's cookie from scripts, and pages of other origins do nothing with it",
  { timeout: 60_000 },
  async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const { page, complaints } = await openPage();
    await page.goto(`${own(app)}/healthz`);
    const signedIn = await page.evaluate(async (token) => {
      const headers = { "content-type": "application/json", "x-triplane-console": "1" };
      const response = await fetch("/console/session", { method: "POST", headers, body: JSON.stringify({ token }) });
      return (await response.json()) as { viewer: { actorId: string } };
    }, "anna-token");
    expect(signedIn.viewer.actorId).toBe("anna");
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: `triplane-${app.port}`, httpOnly: true, sameSite: "Strict", secure: false, path: "/" });

    // The other page first: the console's own tries end with a sign-out.
    await page.goto(await neighbour());
    expect(await page.evaluate(tries, own(app))).toEqual({
      visible: "",
      withHeader: "blocked",
      withoutHeader: "blocked",
      simplePost: "sent, unread",
      get: "sent, unread",
      session: "blocked",
      signOut: "blocked",
      socket: 1006,
      socketWithoutField: 1006,
    });
    await page.goto(`${own(app)}/healthz`);
    expect(await page.evaluate(tries, own(app))).toEqual({
      visible: "",
      withHeader: 200,
      withoutHeader: 401,
      simplePost: 415,
      get: 401,
      session: 200,
      signOut: 200,
      // The last of them comes after the sign-out.
      socket: 4403,
      socketWithoutField: 4403,
    });
    expect(await page.context().cookies()).toEqual([]);
    const agents = await fetch(`${own(app)}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer vera-token" },
      body: JSON.stringify({ query: "{ agents { totalCount } }" }),
    });
    expect(await agents.json()).toEqual({ data: { agents: { totalCount: 0 } } });
    expect(complaints).toEqual([]);
  },
);

withChromium("a page of the console's own origin follows by a WebSocket with the cookie alone", { timeout: 60_000 }, async () => {
  const app = await startTestApp({ config: NEIGHBOURS });
  const { page } = await openPage();
  await page.goto(`${own(app)}/healthz`);
  const types = await page.evaluate(async (token) => {
    const console = { "x-triplane-console": "1" };
    const headers = { "content-type": "application/json", ...console };
    await fetch("/console/session", { method: "POST", headers, body: JSON.stringify({ token }) });
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      const ws = new WebSocket(`ws://${location.host}/graphql`, "graphql-transport-ws");
      ws.addEventListener("open", () => ws.send(JSON.stringify({ type: "connection_init", payload: console })));
      ws.addEventListener("close", ({ code }) => resolve(void seen.push(String(code))));
      ws.addEventListener("message", ({ data }) => {
        const { type } = JSON.parse(String(data)) as { type: string };
        seen.push(type);
        const payload = { query: "subscription { control { cursor } }" };
        if (type === "connection_ack") ws.send(JSON.stringify({ type: "subscribe", id: "1", payload }));
        else ws.close(1000);
      });
    });
    return seen;
  }, "paul-token");
  expect(types).toEqual(["connection_ack", "next", "1000"]);
});

it.skipIf(hasNoChromium || hasNoNginx)(
  "behind the nginx of docs/nginx, Chromium keeps a cookie for this host and https alone, and signs out",
  { timeout: 60_000 },
  async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const url = await startNginx(await temporaryFolder(), [app.port, app.port]);
    const opened = await openPage();
    const page = await opened.page.context().browser()?.newPage({ ignoreHTTPSErrors: true });
    if (page === undefined) throw new Error("a page has a browser");
    await page.goto(`${url}/healthz`);
    const signedIn = await page.evaluate(async (token) => {
      const headers = { "content-type": "application/json", "x-triplane-console": "1" };
      const response = await fetch("/console/session", { method: "POST", headers, body: JSON.stringify({ token }) });
      return (await response.json()) as { isSignedIn: boolean };
    }, "anna-token");
    expect(signedIn.isSignedIn).toBe(true);
    expect(await page.context().cookies()).toMatchObject([
      { name: "__Host-triplane", secure: true, httpOnly: true, sameSite: "Strict", path: "/", domain: "127.0.0.1" },
    ]);
    const all = await page.evaluate(tries, url);
    expect(all).toMatchObject({ visible: "", withHeader: 200, withoutHeader: 401, simplePost: 415, session: 200, signOut: 200 });
    expect(await page.context().cookies()).toEqual([]);
  },
);
