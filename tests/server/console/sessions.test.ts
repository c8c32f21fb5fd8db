import { describe, expect, it } from "vitest";
import { StorageUnavailable } from "../../../src/db/storage-error.ts";
import { EndSessionDocument, RevokeAccessTokenDocument, SessionsDocument } from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { CONSOLE, ConsoleBrowser, send } from "../../support/console-browser.ts";
import { testDatabaseUrl } from "../../support/database.ts";

const PEOPLE = {
  actors: [
    tokenActor("anna", ["user", "approver"]).actor,
    tokenActor("ada", ["admin"]).actor,
    tokenActor("vera", ["viewer"]).actor,
    tokenActor("zoe", ["admin"], "other").actor,
  ],
};
const as = (app: TestApp, name: string): TestClient => connect(app.url, `${name}-token`);
const ownOrigin = (app: TestApp): string => `http://127.0.0.1:${app.port}`;

async function accessToken(client: TestClient): Promise<{ id: string; secret: string }> {
  const { data } = await client.post<{ createAccessToken: { secret: string; accessToken: { id: string } } }>({
    query: 'mutation { createAccessToken(input: { name: "mine" }) { secret accessToken { id } } }',
  });
  const { secret = "", accessToken: token } = data?.createAccessToken ?? {};
  return { id: token?.id ?? "", secret };
}

async function sessionsOf(client: TestClient, isActive: boolean | null = null) {
  return (await client.get(SessionsDocument, { filter: { isActive } })).sessions.nodes;
}

/** A socket of the console, open: `closed` resolves with the code with which the server closes it, and the ms until then. */
async function openSocket(app: TestApp, browser: ConsoleBrowser) {
  const stream = browser.socket(ownOrigin(app)).iterate({ query: "subscription { control { cursor } }" });
  await stream.next();
  const began = performance.now();
  const closed = stream.next().then(
    () => null,
    (error: { code?: number }) => ({ code: error.code, ms: performance.now() - began }),
  );
  return { closed };
}

describe("sessions of the console", () => {
  it("begin with a token: the cookie is the console's alone, and every request and socket of it is its person's", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const browser = new ConsoleBrowser(app);
    expect(await browser.state()).toMatchObject({ mode: "token", isSignedIn: false, viewer: null, problem: null });
    const link = "/console/inbox/QXBwcm92YWw6MQ%3D%3D";
    const signedIn = await browser.signIn("anna-token", link);
    const viewer = { actorId: "anna", tenant: "acme", roles: ["USER", "APPROVER"], kind: "USER", name: null };
    expect(signedIn).toMatchObject({ status: 200, mode: "token", isSignedIn: true, viewer, returnTo: link });
    expect(browser.setCookie).toMatch(
      new RegExp(`^triplane-${app.port}=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800$`),
    );
    expect(await browser.state()).toMatchObject({ isSignedIn: true, viewer, sessionId: signedIn.sessionId });
    expect(await browser.actor()).toBe("anna");
    expect(await browser.follow(ownOrigin(app))).toBe("followed");
    expect(await browser.follow(ownOrigin(app).replace("127.0.0.1", "localhost"))).not.toBe("followed");

    const [session, ...more] = await sessionsOf(as(app, "anna"));
    expect(more).toEqual([]);
    expect(session).toMatchObject({
      id: signedIn.sessionId,
      owner: { actorId: "anna" },
      userAgent: "Browser of the test",
      endedAt: null,
    });
    const lifeMs = Date.parse(session?.expiresAt ?? "") - Date.parse(session?.lastUsedAt ?? "");
    expect(lifeMs).toBe(12 * 60 * 60_000);
    const { text } = await send(
      app,
      "POST",
      "/graphql",
      browser.headers({ "content-type": "application/json" }),
      JSON.stringify({ query: "{ sessions { nodes { viewerIsHere } } }" }),
    );
    expect(JSON.parse(text)).toEqual({ data: { sessions: { nodes: [{ viewerIsHere: true }] } } });

    expect(await browser.signOut()).toMatchObject({ status: 200, isSignedIn: false });
    expect(await sessionsOf(as(app, "anna"), true)).toEqual([]);
  });

  it("begin anew with each sign-in: the one before ends, and the cookie is another", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const browser = new ConsoleBrowser(app);
    await browser.signIn("anna-token");
    const { cookie: first } = browser;
    await browser.signIn("ada-token");
    expect(browser.cookie).not.toBe(first);
    expect(await browser.actor()).toBe("ada");
    browser.cookie = first;
    expect(await browser.actor()).toBe(401);
  });

  it("are at most 20 a person: a further sign-in ends the oldest", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const browsers = Array.from({ length: 21 }, () => new ConsoleBrowser(app));
    for (const browser of browsers) await browser.signIn("anna-token");
    expect(await sessionsOf(as(app, "anna"), true)).toHaveLength(20);
    expect([await browsers[0]?.actor(), await browsers[1]?.actor()]).toEqual([401, "anna"]);
  });

  it("end after 12 hours without a use, and after 7 days with any", async () => {
    const clock = movableClock();
    const app = await startTestApp({ config: PEOPLE, overrides: { clock } });
    const [idle, busy] = [new ConsoleBrowser(app), new ConsoleBrowser(app)];
    await idle.signIn("anna-token");
    await busy.signIn("ada-token");
    const lastUse = async () => (await sessionsOf(as(app, "ada"), true)).find(({ owner }) => owner.actorId === "ada")?.lastUsedAt;
    for (let hour = 0; hour < 7 * 24 - 11; hour += 11) {
      const before = await lastUse();
      await clock.passHours(11);
      expect(await busy.actor(), `hour ${hour}`).toBe("ada");
      // The last use is written without anybody waiting for it.
      await expect.poll(lastUse).not.toBe(before);
    }
    expect(await idle.actor()).toBe(401);
    expect(await sessionsOf(as(app, "anna"), true)).toEqual([]);
    await clock.passHours(11);
    expect(await busy.actor()).toBe(401);
  });

  it("are ended by their person and by administrators of the tenant; their streams close within 5 s (invariant 12)", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const browser = new ConsoleBrowser(app);
    const { sessionId } = await browser.signIn("anna-token");
    const id = sessionId ?? "";
    expect((await sessionsOf(as(app, "ada"))).map((session) => session.id)).toEqual([id]);
    expect([await sessionsOf(as(app, "vera")), await sessionsOf(as(app, "zoe"))]).toEqual([[], []]);
    for (const stranger of ["vera", "zoe"]) {
      const { endSession } = await as(app, stranger).get(EndSessionDocument, { id });
      expect(endSession.userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["sessionId"] }]);
    }
    const { closed } = await openSocket(app, browser);
    const { endSession } = await as(app, "ada").get(EndSessionDocument, { id });
    expect(endSession).toMatchObject({ session: { endedBy: { actorId: "ada" } }, userErrors: [] });
    expect(await browser.actor()).toBe(401);
    expect(await closed).toMatchObject({ code: 4403 });
    expect((await closed)?.ms).toBeLessThan(5_000);
  });

  it("of an access token end with it, on every server; those of the configuration's token stay", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const [one, two] = [await startTestApp({ config: PEOPLE, database }), await startTestApp({ config: PEOPLE, database })];
    const { id, secret } = await accessToken(as(one, "anna"));
    const [ofToken, ofConfiguration] = [new ConsoleBrowser(two), new ConsoleBrowser(two)];
    await ofToken.signIn(secret);
    await ofConfiguration.signIn("anna-token");
    const { closed } = await openSocket(two, ofToken);
    // A session of an access token makes no token either.
    const { text } = await send(
      two,
      "POST",
      "/graphql",
      ofToken.headers({ "content-type": "application/json" }),
      JSON.stringify({ query: 'mutation { createAccessToken(input: { name: "x" }) { userErrors { code } } }' }),
    );
    expect(text).toContain("FORBIDDEN");
    await as(one, "anna").get(RevokeAccessTokenDocument, { id });
    expect([await ofToken.actor(), await ofConfiguration.actor()]).toEqual([401, "anna"]);
    expect(await closed).toMatchObject({ code: 4403 });
    expect(await sessionsOf(as(one, "anna"), true)).toHaveLength(1);
  });

  it("need https, or this machine: over https the cookie has the prefix of one host alone, and is Secure", async () => {
    const app = await startTestApp({ config: { ...PEOPLE, publicUrl: "https://triplane.example.org" } });
    const ways = [
      { host: "triplane.example.org" },
      { host: "10.0.0.7:4000", "x-forwarded-for": "203.0.113.9" },
      { host: `127.0.0.1:${app.port}`, origin: "https://triplane.example.org" },
      { host: "other.example.org", "x-forwarded-proto": "https" },
    ];
    for (const headers of ways) {
      const browser = new ConsoleBrowser(app, headers);
      expect(await browser.signIn("anna-token"), headers.host).toMatchObject({ status: 200 });
      expect(browser.setCookie, headers.host).toMatch(
        /^__Host-triplane=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/,
      );
      expect(await browser.actor(), headers.host).toBe("anna");
    }
    const elsewhere = new ConsoleBrowser(app, { host: "192.168.1.5:4000" });
    expect(await elsewhere.state()).toMatchObject({ isSignedIn: false, problem: expect.stringContaining("needs https") });
    expect(await elsewhere.signIn("anna-token")).toMatchObject({ status: 403, error: { code: "NEEDS_HTTPS" } });
    expect(elsewhere.cookie).toBeNull();
  });

  it("are not needed without actors, nor with `authenticate`: both sign in by themselves", async () => {
    const local = new ConsoleBrowser(await startTestApp());
    const administrator = { actorId: "local", tenant: "local", roles: ["ADMIN"] };
    expect(await local.state()).toMatchObject({ mode: "none", isSignedIn: true, viewer: administrator, sessionId: null });
    expect(await local.signIn("any")).toMatchObject({ status: 409, error: { code: "NO_TOKENS" } });

    const authenticate = ({ headers }: { headers: { get(name: string): string | null } }) =>
      headers.get("x-company-user") === "anna" ? ({ id: "anna", tenant: "acme", roles: ["user"] } as const) : null;
    const own = await startTestApp({ config: { authenticate } });
    const known = new ConsoleBrowser(own, { "x-company-user": "anna" });
    expect(await known.state()).toMatchObject({ mode: "authenticate", isSignedIn: true, viewer: { actorId: "anna" } });
    expect(await known.actor()).toBe("anna");
    expect(await new ConsoleBrowser(own).state()).toMatchObject({ mode: "authenticate", isSignedIn: false, viewer: null });
  });

  it("are one person's, whoever signs in beside: no cookie, nor token, nor secret is in the log of the server", async () => {
    const lines: string[] = [];
    const said = (...parts: readonly unknown[]) => void lines.push(JSON.stringify(parts));
    const logger = { debug: said, info: said, warn: said, error: said, tell: said };
    const app = await startTestApp({ config: PEOPLE, overrides: { logger } });
    const browser = new ConsoleBrowser(app);
    await browser.signIn("anna-token");
    await browser.signIn("wrong-token");
    const { secret } = await accessToken(as(app, "anna"));
    await connect(app.url, `${secret}0`).post({ query: "{ viewer { tenant } }" });
    const [, value = "none"] = browser.cookie?.split("=") ?? [];
    for (const text of ["anna-token", "wrong-token", secret, value]) expect(lines.join("\n")).not.toContain(text);
    expect(lines.join("\n")).toContain('"signed_in"');
  });

  it("are answered 503 while the database is away, and hold after it; tokens of the configuration are known meanwhile", async () => {
    const state = { isAway: false };
    const app = await startTestApp({
      config: PEOPLE,
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: (statement, values) =>
            state.isAway && statement.name === "find_session"
              ? Promise.reject(new StorageUnavailable("the database is away"))
              : sql.query(statement, values),
        }),
      },
    });
    const browser = new ConsoleBrowser(app);
    await browser.signIn("anna-token");
    state.isAway = true;
    expect(await browser.actor()).toBe(503);
    expect(await browser.follow(ownOrigin(app))).toBe(1013);
    expect(await browser.actor({ authorization: "Bearer anna-token" })).toBe("anna");
    state.isAway = false;
    expect(await browser.actor()).toBe("anna");
    await browser.signOut();
    browser.cookie = `triplane-${app.port}=${"0".repeat(64)}`;
    const { text } = await send(app, "POST", "/graphql", browser.headers({ "content-type": "application/json" }), "{}");
    expect(text).toContain("sign in to the console");
  });

  it("answer other methods, and requests without the header, with what to do", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const put = await send(app, "PUT", "/console/session", CONSOLE);
    expect([put.status, put.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
    const bare = await send(app, "GET", "/console/session", {});
    expect([bare.status, bare.text]).toEqual([403, expect.stringContaining("x-triplane-console: 1")]);
    expect(bare.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });
});
