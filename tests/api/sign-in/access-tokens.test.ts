import { describe, expect, it } from "vitest";
import {
  AccessTokensDocument,
  CreateAccessTokenDocument,
  PollTimelineDocument,
  RevokeAccessTokenDocument,
  TimelineDocument,
  type CreateAccessTokenInput,
} from "../../generated/documents.ts";
import { NEIGHBOURS, tokenActor } from "../../support/actors.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
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

async function made(client: TestClient, input: Partial<CreateAccessTokenInput> = {}) {
  const { createAccessToken } = await client.get(CreateAccessTokenDocument, { input: { name: "a program", ...input } });
  return { ...createAccessToken, secret: createAccessToken.secret ?? "", id: createAccessToken.accessToken?.id ?? "" };
}

async function names(client: TestClient): Promise<readonly string[]> {
  return (await client.get(AccessTokensDocument, {})).accessTokens.nodes.map(({ name }) => name);
}

const who = async (client: TestClient) => {
  const { data, status } = await client.post<{ viewer: { actor: { actorId: string }; roles: string[]; tenant: string } }>({
    query: "{ viewer { actor { actorId } roles tenant } }",
  });
  return data === null ? status : { id: data.viewer.actor.actorId, roles: data.viewer.roles, tenant: data.viewer.tenant };
};

describe("access tokens", () => {
  it("act as their person with some of their roles, are shown once, and are kept as a hash", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const { secret, accessToken, cursor } = await made(as(app, "anna"), { name: " CI ", roles: ["APPROVER"], expiresInDays: 7 });
    // What scanners of leaked secrets look for.
    expect(secret).toMatch(/^triplane_[0-9a-f]{64}$/);
    expect(accessToken).toMatchObject({ name: "CI", roles: ["APPROVER"], owner: { actorId: "anna" }, lastUsedAt: null });
    const lifeMs = Date.parse(accessToken?.expiresAt ?? "") - Date.parse(accessToken?.createdAt ?? "");
    expect(lifeMs).toBe(7 * 24 * 60 * 60_000);
    const program = connect(app.url, secret);
    expect(await who(program)).toEqual({ id: "anna", roles: ["APPROVER"], tenant: "acme" });
    await expect
      .poll(async () => (await as(app, "anna").get(AccessTokensDocument, {})).accessTokens.nodes[0]?.lastUsedAt)
      .toBeTruthy();

    const rows = await app.database.sql.query(
      { name: "", text: "SELECT t::text, e.payload::text FROM access_token t, event e" },
      [],
    );
    expect(JSON.stringify(rows)).not.toContain(secret.slice(9));
    const { timeline } = await as(app, "vera").get(PollTimelineDocument, { kinds: ["ACCESS_TOKEN_CREATED"] });
    expect(timeline.events).toMatchObject([
      {
        agent: null,
        changedBy: { actorId: "anna" },
        accessToken: { accessTokenId: accessToken?.id, name: "CI", roles: ["APPROVER"] },
      },
    ]);
    expect(timeline.events[0]?.cursor).toBe(cursor);
  });

  it("are seen and revoked by their person, and by administrators of the tenant", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const { id, secret } = await made(as(app, "anna"), { name: "of anna" });
    await made(as(app, "vera"), { name: "of vera" });
    expect(await names(as(app, "anna"))).toEqual(["of anna"]);
    expect(await names(as(app, "ada"))).toEqual(["of vera", "of anna"]);
    expect(await names(as(app, "zoe"))).toEqual([]);
    const nodeOf = async (name: string) => (await as(app, name).post({ query: `{ node(id: "${id}") { id } }` })).data;
    expect([await nodeOf("anna"), await nodeOf("ada")]).toEqual([{ node: { id } }, { node: { id } }]);
    expect([await nodeOf("vera"), await nodeOf("zoe")]).toEqual([{ node: null }, { node: null }]);
    for (const stranger of ["vera", "zoe"]) {
      const { revokeAccessToken } = await as(app, stranger).get(RevokeAccessTokenDocument, { id });
      expect(revokeAccessToken.userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["accessTokenId"] }]);
    }
    const { revokeAccessToken: revoked } = await as(app, "ada").get(RevokeAccessTokenDocument, { id });
    expect(revoked).toMatchObject({ accessToken: { revokedBy: { actorId: "ada" } }, userErrors: [] });
    expect(await who(connect(app.url, secret))).toBe(401);
    // Once more: nothing happens, and no second event.
    await as(app, "anna").get(RevokeAccessTokenDocument, { id });
    const { timeline } = await as(app, "ada").get(PollTimelineDocument, { kinds: ["ACCESS_TOKEN_REVOKED"] });
    expect(timeline.events).toMatchObject([{ changedBy: { actorId: "ada" }, accessToken: { owner: { actorId: "anna" } } }]);
    expect((await as(app, "anna").get(AccessTokensDocument, { filter: { isActive: true } })).accessTokens.totalCount).toBe(0);
  });

  it("with fewer roles than their person decide nothing in the name of those who delegate to the person", async () => {
    const app = await startTestApp({ config: { actors: [...PEOPLE.actors, tokenActor("paul", ["approver"]).actor] } });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    for (const to of ["anna", "vera"])
      await as(app, "paul").post({
        query: `mutation { delegateApprovals(input: { toActorId: "${to}", until: "${until}" }) { userErrors { code } } }`,
      });
    const delegators = async (client: TestClient) =>
      (
        await client.post<{ viewer: { delegators: { actorId: string }[] } }>({
          query: "{ viewer { delegators { actorId } } agents { totalCount } }",
        })
      ).data?.viewer.delegators.map(({ actorId }) => actorId);
    const token = async (name: string, roles: CreateAccessTokenInput["roles"]) =>
      connect(app.url, (await made(as(app, name), { roles })).secret);
    expect(await delegators(as(app, "vera"))).toEqual(["paul"]);
    expect(await delegators(await token("vera", ["VIEWER"]))).toEqual(["paul"]);
    expect(await delegators(await token("anna", ["USER"]))).toEqual([]);
  });

  it("make no other token, and none with more rights, a longer life or no name", async () => {
    const app = await startTestApp({ config: PEOPLE });
    const { secret } = await made(as(app, "anna"));
    expect((await made(connect(app.url, secret))).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    const { data } = await connect(app.url, secret).post<{ viewer: { abilities: object[] } }>({
      query: "{ viewer { abilities { action reason } } }",
    });
    expect(data?.viewer.abilities.at(-1)).toEqual({
      action: "CREATE_ACCESS_TOKENS",
      reason: expect.stringContaining("an access token makes no other"),
    });
    const refused = async (input: Partial<CreateAccessTokenInput>) => (await made(as(app, "anna"), input)).userErrors;
    expect(await refused({ roles: ["ADMIN"] })).toMatchObject([{ code: "INVALID", field: ["roles"] }]);
    expect(await refused({ roles: [] })).toMatchObject([{ code: "INVALID", field: ["roles"] }]);
    expect(await refused({ expiresInDays: 366 })).toMatchObject([{ code: "INVALID", field: ["expiresInDays"] }]);
    expect(await refused({ expiresInDays: 0 })).toMatchObject([{ code: "INVALID", field: ["expiresInDays"] }]);
    expect(await refused({ name: "  " })).toMatchObject([{ code: "INVALID", field: ["name"] }]);
    expect(await names(as(app, "anna"))).toHaveLength(1);
  });

  it("are at most 50 a person, also of those that are asked for at the same time; revoked and expired ones do not count", async () => {
    const clock = movableClock();
    const app = await startTestApp({ config: PEOPLE, overrides: { clock } });
    const anna = as(app, "anna");
    const tries = await Promise.all(Array.from({ length: 55 }, () => made(anna, { expiresInDays: 1 })));
    expect(tries.filter(({ secret }) => secret !== "")).toHaveLength(50);
    expect(tries.flatMap(({ userErrors }) => userErrors.map(({ code }) => code))).toEqual(Array(5).fill("QUEUE_FULL"));
    expect((await made(as(app, "ada"))).userErrors).toEqual([]);
    const [first] = (await anna.get(AccessTokensDocument, {})).accessTokens.nodes;
    await anna.get(RevokeAccessTokenDocument, { id: first?.id ?? "" });
    expect((await made(anna)).userErrors).toEqual([]);
    expect((await made(anna)).userErrors).toMatchObject([{ code: "QUEUE_FULL" }]);
    await clock.passHours(25);
    expect((await made(anna)).userErrors).toEqual([]);
  });

  it("expire after 90 days, if nothing else was asked for", async () => {
    const clock = movableClock();
    const app = await startTestApp({ config: PEOPLE, overrides: { clock } });
    const program = connect(app.url, (await made(as(app, "anna"))).secret);
    await clock.passHours(90 * 24 - 1);
    expect(await who(program)).toMatchObject({ id: "anna" });
    await clock.passHours(2);
    expect(await who(program)).toBe(401);
  });

  it("have only the roles that their person has still, and no effect without the person", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const app = await startTestApp({ config: PEOPLE, database });
    const { secret } = await made(as(app, "anna"));
    await app.close();
    const start = (roles: Parameters<typeof tokenActor>[1] | null) =>
      startTestApp({
        config: { actors: [...(roles === null ? [] : [tokenActor("anna", roles).actor]), tokenActor("ada", ["admin"]).actor] },
        database,
      });
    const promoted = await start(["approver", "admin"]);
    expect(await who(connect(promoted.url, secret))).toMatchObject({ roles: ["APPROVER"] });
    await promoted.close();
    const other = await start(["admin"]);
    expect(await who(connect(other.url, secret))).toBe(401);
    await other.close();
    expect(await who(connect((await start(null)).url, secret))).toBe(401);
  });

  it("need actors: without them, or with `authenticate`, they are refused with a reason", async () => {
    const local = await startTestApp();
    expect((await made(connect(local.url))).userErrors).toMatchObject([
      { code: "FORBIDDEN", message: expect.stringContaining("Write `actors` in the configuration") },
    ]);
    const authenticate = () => ({ id: "anna", tenant: "acme", roles: ["admin"] as const });
    const own = await startTestApp({ config: { authenticate } });
    expect((await made(connect(own.url, "any"))).userErrors).toMatchObject([
      { code: "FORBIDDEN", message: expect.stringContaining("`authenticate`") },
    ]);
  });

  it("close their streams on every server within 5 s of a revocation (invariant 12)", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const [one, two] = [await startTestApp({ config: PEOPLE, database }), await startTestApp({ config: PEOPLE, database })];
    const { secret, id } = await made(as(one, "ada"));
    const stream = connect(two.url, secret).subscribe(TimelineDocument, { channels: ["CONTROL"] });
    await stream.next();
    const began = performance.now();
    await as(one, "ada").get(RevokeAccessTokenDocument, { id });
    const ended = await stream.next().catch((error: unknown) => error);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(ended).toMatchObject({ code: 4403 });
  });

  it("of a form that no token has ask nothing of the database; all others one statement, whether they are known or not", async () => {
    const asked: string[] = [];
    const app = await startTestApp({
      config: NEIGHBOURS,
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: (statement, values) => {
            if (/access_token|session/.test(statement.name)) asked.push(statement.name);
            return sql.query(statement, values);
          },
        }),
      },
    });
    const { secret, id } = await made(as(app, "anna"));
    await as(app, "anna").get(RevokeAccessTokenDocument, { id });
    asked.length = 0;
    for (const token of ["", "x", `${secret}0`, secret.toUpperCase(), "triplane_"])
      expect(await who(connect(app.url, token))).toBe(401);
    expect(asked).toEqual([]);
    for (const token of [secret, `triplane_${"0".repeat(64)}`]) expect(await who(connect(app.url, token))).toBe(401);
    expect(asked).toEqual(["find_access_token", "find_access_token"]);
  });
});
