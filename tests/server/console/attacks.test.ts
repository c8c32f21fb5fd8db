import { describe, expect, it } from "vitest";
import { hashOf } from "../../../src/agent/actors/access-token.ts";
import { AccessTokensDocument, SessionsDocument } from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { CONSOLE, ConsoleBrowser, send, type Headers } from "../../support/console-browser.ts";
import { testDatabaseUrl } from "../../support/database.ts";

const PEOPLE = {
  actors: [tokenActor("anna", ["user"]).actor, tokenActor("ada", ["admin"]).actor, tokenActor("zoe", ["admin"], "other").actor],
};
const JSON_BODY = { "content-type": "application/json" };
const own = (app: TestApp): string => `http://127.0.0.1:${app.port}`;
const CREATE = 'mutation { createAgent(input: { templateId: "assistant" }) { agent { id } } }';
const EVIL = "https://evil.example";

/** A browser in which ada, an administrator, has signed in. */
async function signedIn(options: Parameters<typeof startTestApp>[0] = {}, headers: Headers = {}) {
  const app = await startTestApp({ ...options, config: { ...PEOPLE, ...options.config } });
  const browser = new ConsoleBrowser(app, headers);
  expect(await browser.signIn("ada-token")).toMatchObject({ status: 200 });
  expect(await browser.actor()).toBe("ada");
  return { app, browser, cookie: browser.cookie ?? "" };
}

async function agents(app: TestApp): Promise<number> {
  const { data } = await connect(app.url, "ada-token").post<{ agents: { totalCount: number } }>({
    query: "{ agents { totalCount } }",
  });
  return data?.agents.totalCount ?? -1;
}

describe("requests that other sites make with the browser's cookie", () => {
  it("1. without the console's header, count as those of a stranger", async () => {
    const { app, browser, cookie } = await signedIn();
    for (const value of ["", "0", "true", "1, 1"]) expect(await browser.actor({ "x-triplane-console": value }), value).toBe(401);
    const answer = await send(app, "POST", "/graphql", { cookie, ...JSON_BODY }, JSON.stringify({ query: CREATE }));
    expect(answer.status).toBe(401);
    expect(await agents(app)).toBe(0);
  });

  it("2. as a simple POST of a form, text/plain or multipart, are refused before they are read", async () => {
    const { app, cookie } = await signedIn();
    const body = JSON.stringify({ query: CREATE });
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/plain; application/json",
      "",
    ])
      for (const header of [{}, CONSOLE]) {
        const { status } = await send(app, "POST", "/graphql", { cookie, "content-type": type, ...header }, body);
        expect(status, type).toBe(415);
      }
    expect(await agents(app)).toBe(0);
  });

  it("3. as a GET with a mutation, change nothing, whatever header they have", async () => {
    const { app, cookie } = await signedIn();
    const path = `/graphql?query=${encodeURIComponent(CREATE)}`;
    expect((await send(app, "GET", path, { cookie, accept: "application/json" })).status).toBe(401);
    expect((await send(app, "GET", path, { cookie, accept: "application/json", ...CONSOLE })).status).toBe(405);
    expect((await send(app, "GET", path, { cookie, accept: "application/json", "sec-fetch-site": "cross-site" })).status).toBe(
      403,
    );
    expect(await agents(app)).toBe(0);
  });

  it("4. from another origin, or none that can be named, are refused", async () => {
    const { app, browser } = await signedIn();
    for (const origin of [
      EVIL,
      "null",
      `http://127.0.0.1:${app.port + 1}`,
      `https://127.0.0.1:${app.port}.evil.example`,
      "file://",
    ])
      expect(await browser.actor({ origin }), origin).toBe(403);
    expect(await browser.actor({ origin: own(app) })).toBe("ada");
  });

  it("5. from an origin of `allowedOrigins`, need a token: it answers them, but no cookie counts", async () => {
    const { app, browser } = await signedIn({ config: { allowedOrigins: ["https://tools.example.org"] } });
    expect(await browser.actor({ origin: "https://tools.example.org" })).toBe(401);
    expect(await browser.follow("https://tools.example.org")).toBe(4403);
    const preflight = await send(app, "OPTIONS", "/console/session", {
      origin: "https://tools.example.org",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-triplane-console",
    });
    expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
    const { status } = await send(
      app,
      "POST",
      "/console/session",
      { ...CONSOLE, ...JSON_BODY, origin: "https://tools.example.org" },
      "{}",
    );
    expect(status).toBe(403);
  });

  it("6. that the browser says come from elsewhere, are those of a stranger, even with the header", async () => {
    const { browser } = await signedIn();
    for (const site of ["cross-site", "same-site", "none"])
      expect(await browser.actor({ "sec-fetch-site": site }), site).toBe(401);
    expect(await browser.actor({ "sec-fetch-site": "same-origin" })).toBe("ada");
  });

  it("7. as an event stream, must say that they come from the console's own page", async () => {
    const { app, browser } = await signedIn();
    const query = encodeURIComponent("subscription { control(until: [DONE]) { cursor } }");
    const stream = async (headers: Headers): Promise<number> =>
      (
        await fetch(`${own(app)}/graphql?query=${query}`, {
          headers: browser.headers({ accept: "text/event-stream", ...headers }),
          signal: AbortSignal.timeout(2_000),
        }).then(async (response) => {
          await response.body?.cancel();
          return response;
        })
      ).status;
    expect(await stream({ origin: own(app) })).toBe(200);
    expect(await stream({})).toBe(401);
    expect(await stream({ origin: EVIL })).toBe(403);
    expect(await stream({ "x-triplane-console": "" })).toBe(401);
  });
});

describe("sockets that other sites open with the browser's cookie", () => {
  it("8. from another origin, or a sandboxed page, are refused at the upgrade", async () => {
    const { browser, app } = await signedIn();
    for (const origin of [EVIL, "null", `http://localhost:${app.port}`])
      expect(await browser.follow(origin), origin).not.toBe("followed");
    expect(await browser.follow(own(app))).toBe("followed");
  });

  it("9. without an Origin, or without the console's field, are those of a stranger", async () => {
    const { browser, app } = await signedIn();
    expect(await browser.follow(null)).toBe(4403);
    for (const connectionParams of [{}, { "x-triplane-console": 1 }, { "x-triplane-console": "0" }])
      expect(await browser.follow(own(app), connectionParams)).toBe(4403);
  });

  it("10. by GraphiQL, on the same origin, count no cookie: it takes tokens from its own field", async () => {
    const { app, browser, cookie } = await signedIn();
    expect(
      (await send(app, "POST", "/graphql", { cookie, origin: own(app), ...JSON_BODY }, '{"query":"{ viewer { tenant } }"}'))
        .status,
    ).toBe(401);
    expect(await browser.follow(own(app), {})).toBe(4403);
    expect(await browser.follow(own(app), { authorization: "Bearer anna-token" })).toBe("followed");
  });
});

describe("names of the server that somebody else chose", () => {
  it("11. by DNS rebinding, have no cookie that counts, and cannot get one", async () => {
    const { browser, app, cookie } = await signedIn();
    expect(await browser.actor({ host: "rebound.evil.example" })).toBe(401);
    expect(
      await browser.actor({ host: `rebound.evil.example:${app.port}`, origin: `http://rebound.evil.example:${app.port}` }),
    ).toBe(401);
    const rebound = new ConsoleBrowser(app, { host: `rebound.evil.example:${app.port}` });
    expect(await rebound.signIn("ada-token")).toMatchObject({ status: 403, error: { code: "NEEDS_HTTPS" } });
    const local = await startTestApp();
    for (const method of ["GET", "POST", "DELETE"])
      expect((await send(local, method, "/console/session", { ...CONSOLE, host: "rebound.evil.example", cookie })).status).toBe(
        403,
      );
  });

  it("12. over https, give only a cookie that is Secure and that no other host can set", async () => {
    const config = { publicUrl: "https://triplane.example.org" };
    const { app, browser, cookie } = await signedIn({ config }, { host: "triplane.example.org" });
    expect(browser.setCookie).toMatch(/^__Host-.*; Secure$/);
    expect(browser.setCookie).not.toContain("Domain");
    // A sibling domain sets a cookie of the plain name, with the secret of a session of its own.
    const [, secret = ""] = cookie.split("=");
    for (const name of ["triplane", "triplane-443", "triplane-80", `triplane-${app.port}`]) {
      browser.cookie = `${name}=${secret}`;
      expect(await browser.actor(), name).toBe(401);
      expect(await browser.actor({ "x-forwarded-proto": "https", host: "127.0.0.1:443" }), name).toBe(401);
    }
  });
});

describe("cookies that are not what the server gave", () => {
  it("13. set before sign-in, are not what it signs in (session fixation)", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const attacker = new ConsoleBrowser(app);
    await attacker.signIn("anna-token");
    const victim = new ConsoleBrowser(app);
    for (const planted of [`triplane-${app.port}=${"a".repeat(64)}`, attacker.cookie]) {
      victim.cookie = planted;
      await victim.signIn("ada-token");
      expect(victim.cookie).not.toBe(planted);
      expect(await victim.actor()).toBe("ada");
      expect(await attacker.actor()).not.toBe("ada");
      const holder = new ConsoleBrowser(app);
      holder.cookie = planted;
      expect(await holder.actor()).toBe(401);
    }
  });

  it("14. twice under one name, count for none: one of them is somebody else's", async () => {
    const { browser, app, cookie } = await signedIn();
    const other = new ConsoleBrowser(app);
    await other.signIn("anna-token");
    browser.cookie = `${cookie}; ${other.cookie}`;
    expect(await browser.actor()).toBe(401);
  });

  it("15. malformed, of another case or length, or huge, are refused, and the server goes on", async () => {
    const { browser, app, cookie } = await signedIn();
    const [name = "", secret = ""] = cookie.split("=");
    const wrong = [
      `${name}=`,
      name,
      `${name}=${secret.slice(1)}`,
      `${name}=${secret}0`,
      `${name}=${secret.toUpperCase().replace(/\d/g, "A")}`,
      `${name}="${secret}"`,
      `${name}=%00${secret}`,
      `${name} =${secret}`,
      `${name.toUpperCase()}=${secret}`,
      ";;;=;",
      `${name}=${"' OR 1=1 --".padEnd(64, "0")}`,
      `${name}=__proto__`,
    ];
    for (const each of wrong) {
      browser.cookie = each;
      expect(await browser.actor(), each).toBe(401);
    }
    browser.cookie = `junk=${"x".repeat(12_000)}; ${name}=${secret}`;
    expect(await browser.actor()).toBe("ada");
    browser.cookie = `junk=${"x".repeat(100_000)}; ${name}=${secret}`;
    // The connection may break before the whole of it is sent.
    expect(await browser.actor().catch(() => 431)).toBe(431);
    browser.cookie = cookie;
    expect(await browser.actor()).toBe("ada");
    expect((await send(app, "GET", "/healthz", {})).status).toBe(200);
  });

  it("16. of another tenant, show that tenant alone, and end nothing of this one", async () => {
    const { app, browser } = await signedIn();
    const zoe = new ConsoleBrowser(app);
    const { sessionId } = await browser.state();
    await zoe.signIn("zoe-token");
    const run = async (query: string) =>
      (await send(app, "POST", "/graphql", zoe.headers(JSON_BODY), JSON.stringify({ query }))).text;
    expect(await run("{ viewer { tenant } sessions { totalCount } }")).toBe(
      '{"data":{"viewer":{"tenant":"other"},"sessions":{"totalCount":1}}}',
    );
    expect(await run(`mutation { endSession(input: { sessionId: "${sessionId}" }) { userErrors { code } } }`)).toContain(
      "NOT_FOUND",
    );
    expect(await run(`{ node(id: "${sessionId}") { id } }`)).toContain('"node":null');
    expect(await browser.actor()).toBe("ada");
  });

  it("16a. of another tenant, end by their own actor if that browser signs in: no tenant reads names of another", async () => {
    const { app, browser } = await signedIn();
    await browser.signIn("zoe-token");
    const { sessions } = await connect(app.url, "ada-token").get(SessionsDocument, { filter: { isActive: false } });
    expect(sessions.nodes).toMatchObject([{ owner: { actorId: "ada" }, endedBy: { actorId: "ada" } }]);
  });
});

describe("sessions and tokens that are over", () => {
  it("17. after sign-out, the cookie is worth nothing where it was copied to", async () => {
    const { app, browser, cookie } = await signedIn();
    await browser.signOut();
    const thief = new ConsoleBrowser(app);
    thief.cookie = cookie;
    expect([await thief.actor(), await thief.follow(own(app)), (await thief.state()).isSignedIn]).toEqual([401, 4403, false]);
  });

  it("18. after their time, idle or not, they are no session", async () => {
    const clock = movableClock();
    const { browser } = await signedIn({ overrides: { clock } });
    await clock.passHours(11.9);
    expect(await browser.actor()).toBe("ada");
    await clock.passHours(12.1);
    expect([await browser.actor(), (await browser.state()).isSignedIn]).toEqual([401, false]);
  });

  it("19. of an actor who lost a role, have it no more; of one who is gone, or has another token, are none", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const app = await startTestApp({ config: PEOPLE, database });
    const browser = new ConsoleBrowser(app);
    await browser.signIn("ada-token");
    const value = browser.cookie?.split("=")[1];
    await app.close();
    const state = async (actors: typeof PEOPLE.actors) => {
      const next = await startTestApp({ config: { actors }, database });
      const same = new ConsoleBrowser(next);
      same.cookie = `triplane-${next.port}=${value}`;
      const { viewer } = await same.state();
      await next.close();
      return viewer?.roles ?? null;
    };
    const [anna] = PEOPLE.actors;
    if (anna === undefined) throw new Error("anna is one of the people");
    expect(await state([anna, tokenActor("ada", ["viewer"]).actor])).toEqual(["VIEWER"]);
    expect(await state([anna])).toBeNull();
    expect(await state([{ ...tokenActor("ada", ["admin"]).actor, tokenHash: "0".repeat(64) }])).toBeNull();
    // The token is another person's now: the session does not become theirs.
    expect(await state([{ ...tokenActor("ada", ["admin"]).actor, id: "mallory" }])).toBeNull();
    expect(await state([{ ...tokenActor("ada", ["admin"]).actor, tenant: "other" }])).toBeNull();
  });
});

describe("sign-in itself", () => {
  it("20. by another site's page is refused: nobody is signed in as somebody else (login CSRF)", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const body = JSON.stringify({ token: "anna-token" });
    const post = (headers: Headers) => send(app, "POST", "/console/session", headers, body);
    for (const headers of [
      { ...JSON_BODY },
      { ...JSON_BODY, ...CONSOLE, origin: EVIL },
      { ...JSON_BODY, ...CONSOLE, "sec-fetch-site": "cross-site" },
      { "content-type": "text/plain", ...CONSOLE },
    ]) {
      const answer = await post(headers);
      expect([403, 415]).toContain(answer.status);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    const { cookie } = await (async () => {
      const browser = new ConsoleBrowser(app);
      await browser.signIn("ada-token");
      return { cookie: browser.cookie ?? "" };
    })();
    expect((await send(app, "DELETE", "/console/session", { cookie })).status).toBe(403);
    expect((await send(app, "DELETE", "/console/session", { cookie, ...CONSOLE, origin: EVIL })).status).toBe(403);
  });

  it("21. with the token in the address, or as a cookie, is refused: addresses are in logs", async () => {
    const app = await startTestApp({ config: PEOPLE });
    for (const path of ["/console/session?token=ada-token", "/console/session?access_token=ada-token"])
      for (const method of ["GET", "POST"])
        expect((await send(app, method, path, { ...CONSOLE, ...JSON_BODY }, method === "POST" ? "{}" : undefined)).status).toBe(
          400,
        );
    const query = encodeURIComponent("{ viewer { tenant } }");
    for (const name of ["token", "access_token", "authorization"])
      expect((await send(app, "GET", `/graphql?query=${query}&${name}=ada-token`, { accept: "application/json" })).status).toBe(
        401,
      );
    const browser = new ConsoleBrowser(app);
    browser.cookie = `triplane-${app.port}=ada-token`;
    expect(await browser.actor()).toBe(401);
  });

  it("22. that fails ten times in a minute at an address is tried no more there, with a right token either", async () => {
    const clock = movableClock();
    const app = await startTestApp({ config: PEOPLE, overrides: { clock } });
    const browser = new ConsoleBrowser(app);
    const tries = [];
    for (let count = 0; count < 12; count += 1) tries.push((await browser.signIn(`guess-${count}`)).status);
    expect(tries).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expect(await browser.signIn("ada-token")).toMatchObject({ status: 429, error: { code: "RATE_LIMITED" } });
    // The address is that of the nearest proxy's header: what a client writes before it counts for nothing.
    const proxied = (forwarded: string) =>
      new ConsoleBrowser(app, { "x-forwarded-for": forwarded, "x-forwarded-proto": "https" });
    expect(await proxied("203.0.113.7").signIn("ada-token")).toMatchObject({ status: 200 });
    for (let count = 0; count < 10; count += 1) await proxied(`10.0.0.${count}, 203.0.113.8`).signIn("guess");
    expect(await proxied("203.0.113.9, 203.0.113.8").signIn("ada-token")).toMatchObject({ status: 429 });
    await clock.passHours(1);
    expect(await browser.signIn("ada-token")).toMatchObject({ status: 200 });
  });

  it("23. leads nowhere but into the console", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const browser = new ConsoleBrowser(app);
    for (const wanted of [
      "//evil.example",
      "/\\evil.example",
      "/console/../graphql",
      "javascript:alert(1)",
      EVIL,
      "/console//evil",
    ])
      expect((await browser.signIn("ada-token", wanted)).returnTo, wanted).toBe("/console");
    expect((await browser.signIn("ada-token", "/console/agents?x=1#y")).returnTo).toBe("/console/agents?x=1#y");
  });

  it("24. reads a small JSON object of two fields, and no more", async () => {
    // A hash of no text, which an unset variable makes, lets nobody in.
    const empty = { ...tokenActor("eve", ["admin"]).actor, tokenHash: hashOf("") };
    const app = await startTestApp({ config: { actors: [...PEOPLE.actors, empty] } });
    const bodies = [
      "",
      "[]",
      "null",
      "{",
      '{"token":7}',
      '{"token":""}',
      '{"token":" "}',
      '{"token":"ada token"}',
      '{"token":"ada-token","tenant":"other"}',
      '{"token":["ada-token"]}',
    ];
    for (const body of bodies)
      expect((await send(app, "POST", "/console/session", { ...CONSOLE, ...JSON_BODY }, body)).status, body).toBe(400);
    const huge = JSON.stringify({ token: "x".repeat(100_000) });
    const refused = await send(app, "POST", "/console/session", { ...CONSOLE, ...JSON_BODY }, huge).catch(() => ({
      status: 413,
    }));
    expect(refused.status).toBe(413);
  });
});

describe("what a request has beside the cookie", () => {
  it("25. a Bearer token wins, a right or a wrong one, over HTTP and over sockets", async () => {
    const { app, browser } = await signedIn();
    expect(await browser.actor({ authorization: "Bearer anna-token" })).toBe("anna");
    for (const authorization of ["Bearer wrong", "Basic YWRhOng=", "Bearer", ""])
      expect(await browser.actor({ authorization }), authorization).toBe(401);
    expect(await browser.follow(own(app), { ...CONSOLE, authorization: "Bearer wrong" })).toBe(4403);
    expect(await browser.follow(own(app), { ...CONSOLE, authorization: "Bearer anna-token" })).toBe("followed");
  });

  it("26. the metrics read no cookie: they are for tokens and for this machine", async () => {
    const { app, cookie } = await signedIn();
    const forwarded = { "x-forwarded-for": "203.0.113.1" };
    expect((await send(app, "GET", "/metrics", { cookie, ...CONSOLE, ...forwarded })).status).toBe(401);
  });

  it("27. a token of a person stands in no answer, also not to the person", async () => {
    const { app } = await signedIn();
    const ada = connect(app.url, "ada-token");
    const { data } = await ada.post<{ createAccessToken: { secret: string } }>({
      query: 'mutation { createAccessToken(input: { name: "x" }) { secret } }',
    });
    const { secret = "none" } = data?.createAccessToken ?? {};
    const listed = JSON.stringify(await ada.get(AccessTokensDocument, {}));
    expect(listed).not.toContain(secret.slice(-64));
    const { errors } = await ada.post({ query: "{ accessTokens { nodes { hash } } }" });
    expect(errors[0]?.message).toContain('Cannot query field "hash"');
  });
});

describe("what proxies and neighbours do", () => {
  it("28. a proxy behind another one overwrites X-Forwarded-Proto: `publicUrl` says that browsers come by https", async () => {
    const config = { publicUrl: "https://triplane.example.org" };
    const proxied = { host: "triplane.example.org", "x-forwarded-proto": "http", "x-forwarded-for": "203.0.113.1" };
    const { browser } = await signedIn({ config }, { ...proxied, origin: "https://triplane.example.org" });
    expect(browser.setCookie).toMatch(/^__Host-.*; Secure$/);
    expect(await browser.follow("https://triplane.example.org")).toBe("followed");
    expect(await browser.actor({ origin: "http://triplane.example.org.evil.example" })).toBe(403);
  });

  it("29. two servers of one machine keep the cookies of one browser apart, which sends both to each", async () => {
    const [one, two] = [await startTestApp({ config: PEOPLE }), await startTestApp({ config: PEOPLE })];
    const [ofOne, ofTwo] = [new ConsoleBrowser(one), new ConsoleBrowser(two)];
    await ofOne.signIn("ada-token");
    await ofTwo.signIn("anna-token");
    const both = `${ofOne.cookie}; ${ofTwo.cookie}`;
    [ofOne.cookie, ofTwo.cookie] = [both, both];
    expect([await ofOne.actor(), await ofTwo.actor()]).toEqual(["ada", "anna"]);
    // The other server's cookie under this one's name is no session here.
    ofTwo.cookie = `triplane-${two.port}=${both.split(/[=;]/)[1]}`;
    expect(await ofTwo.actor()).toBe(401);
  });

  it("30. a socket that was open before a revocation begins nothing after it", async () => {
    const { app, browser } = await signedIn();
    const socket = browser.socket(own(app));
    const viewer = () => socket.iterate({ query: "{ viewer { actor { actorId } } }" }).next();
    // The socket stays open between operations while this subscription lasts.
    const stream = socket.iterate({ query: "subscription { control { cursor } }" });
    await stream.next();
    expect((await viewer()).value).toMatchObject({ data: { viewer: { actor: { actorId: "ada" } } } });
    await browser.signOut();
    await expect(viewer()).rejects.toBeDefined();
    await expect(stream.next()).rejects.toMatchObject({ code: 4403 });
  });
});
