import { describe, expect, it } from "vitest";
import { newAccessToken } from "../../../src/agent/actors/access-token.ts";
import { networkOf } from "../../../src/lib/addresses.ts";
import { addressOf } from "../../../src/server/token-guesses.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { CONSOLE, ConsoleBrowser, send, type Headers } from "../../support/console-browser.ts";

const PEOPLE = { actors: [tokenActor("anna", ["user"]).actor, tokenActor("ada", ["admin"]).actor] };
const QUERY = JSON.stringify({ query: "{ viewer { tenant } }" });

const bearer = (token: string, others: Headers = {}): Headers => ({ authorization: `Bearer ${token}`, ...others });
const post = async (app: TestApp, headers: Headers) =>
  send(app, "POST", "/graphql", { "content-type": "application/json", ...headers }, QUERY);
const at = (forwarded: string): Headers => ({ "x-forwarded-for": forwarded, "x-forwarded-proto": "https" });

async function guess(app: TestApp, others: Headers = {}, count = 10): Promise<readonly number[]> {
  const statuses = [];
  for (let index = 0; index < count; index += 1) statuses.push((await post(app, bearer(`guess-${index}`, others))).status);
  return statuses;
}

describe("guesses of Bearer tokens", () => {
  it("are tried ten times in a minute at an address; others' tokens that were right there go on", async () => {
    const clock = movableClock();
    const app = await startTestApp({ config: PEOPLE, overrides: { clock } });
    expect((await post(app, bearer("anna-token"))).status).toBe(200);
    expect(await guess(app, {}, 12)).toEqual([...Array<number>(10).fill(401), 429, 429]);
    const refused = await post(app, bearer("ada-token"));
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining("RATE_LIMITED") });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await post(app, bearer("anna-token"))).status).toBe(200);
    expect((await post(app, bearer("ada-token", at("203.0.113.7")))).status).toBe(200);
    await clock.passHours(1);
    expect((await post(app, bearer("ada-token"))).status).toBe(200);
  });

  it("stop no long token: nobody guesses one, and so a bad client of a proxy locks nobody out", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const { data } = await connect(app.url, "anna-token").post<{ createAccessToken: { secret: string } }>({
      query: 'mutation { createAccessToken(input: { name: "mine" }) { secret } }',
    });
    const secret = data?.createAccessToken.secret ?? "";
    await guess(app);
    expect((await post(app, bearer(newAccessToken()))).status).toBe(401);
    expect((await post(app, bearer(secret))).status).toBe(200);
    const browser = new ConsoleBrowser(app);
    for (let count = 0; count < 11; count += 1) await browser.signIn(`guess-${count}`);
    expect(await browser.signIn("ada-token")).toMatchObject({ status: 429 });
    expect(await browser.signIn(secret)).toMatchObject({ status: 200 });
  });

  it("are no guesses if a program sends its old token again and again", async () => {
    const app = await startTestApp({ config: PEOPLE });
    for (let count = 0; count < 20; count += 1) expect((await post(app, bearer("old-token"))).status).toBe(401);
    expect((await post(app, bearer("ada-token"))).status).toBe(200);
  });

  it("are counted over every way in: sockets, the session's address, and the metrics", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const far = at("203.0.113.7");
    await guess(app, far);
    const ways = [
      send(app, "GET", "/console/session", { ...CONSOLE, ...bearer("ada-token", far) }),
      send(app, "GET", "/metrics", bearer("ada-token", far)),
    ];
    expect((await Promise.all(ways)).map(({ status }) => status)).toEqual([429, 429]);
    await guess(app);
    const origin = `http://127.0.0.1:${app.port}`;
    // The code of a socket that may connect again.
    expect(await new ConsoleBrowser(app).follow(origin, { authorization: "Bearer ada-token" })).toBe(1013);
  });

  it("come from one place within an IPv6 network, and whatever port a proxy writes", async () => {
    const app = await startTestApp({ config: PEOPLE });
    for (let index = 0; index < 10; index += 1) {
      await post(app, bearer(`guess-${index}`, at(`2001:db8:1:2::${index}`)));
      await post(app, bearer(`guess-${index}`, at(`203.0.113.9:${40_000 + index}`)));
      await new ConsoleBrowser(app, at(`2001:db8:7:7::${index}`)).signIn("guess");
    }
    for (const address of ["2001:db8:1:2:ffff::1", "[2001:db8:1:2::3]:443", "203.0.113.9"])
      expect((await post(app, bearer("ada-token", at(address)))).status, address).toBe(429);
    expect((await post(app, bearer("ada-token", at("2001:db8:1:3::1")))).status).toBe(200);
    expect(await new ConsoleBrowser(app, at("2001:db8:7:7::ff")).signIn("ada-token")).toMatchObject({ status: 429 });
  });
});

describe("the address of a client", () => {
  it.for([
    ["203.0.113.9:41000", "203.0.113.9"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["10.0.0.1, unknown", "unknown"],
  ] as const)("in %s is %s", ([forwarded, address]) => {
    const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { "x-forwarded-for": forwarded } };
    expect(addressOf(request as unknown as Parameters<typeof addressOf>[0])).toBe(address);
  });

  it.for([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2:3::4", "2001:db8:1:2"],
    ["unknown", "unknown"],
  ] as const)("%s is in the network %s", ([address, network]) => {
    expect(networkOf(address)).toBe(network);
  });
});
