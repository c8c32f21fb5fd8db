import { describe, expect, it } from "vitest";
import type { TestAppOptions } from "../support/app.ts";
import { settingsDigest } from "../../src/agent/mcp/verdicts.ts";
import { systemClock } from "../../src/lib/time.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { QUICK } from "../support/mcp.ts";
import { appWith } from "../support/mcp-app.ts";
import { httpServer } from "../support/mcp-http.ts";

const NO_CALL = ["mcp__own__work", {}] as const;
const DAY_MS = 86_400_000;

type Row = { readonly tenant: string; readonly server: string; readonly era: string; readonly settings: string };

const ROWS = { name: "test_verdicts", text: "SELECT tenant, server, era, settings FROM mcp_verdict ORDER BY 1, 2" };

/** A server of the older generation, and a database; `start` returns how often the server was asked for its generation. */
async function world() {
  let isUp = true;
  const { url, arrived } = await httpServer(() => (isUp ? null : (response) => response.writeHead(503).end()));
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const start = async (servers: Parameters<typeof appWith>[0], options: TestAppOptions = {}) => {
    const before = arrived.length;
    const { app } = await appWith(servers, NO_CALL, { database, ...options });
    await expect.poll(() => app.services.of("local").mcpServers.get("own")?.state.kind).toBe("CONNECTED");
    const asked = arrived.slice(before).filter(({ method }) => method === "server/discover").length;
    return { app, asked, rows: await app.database.sql.query<Row, []>(ROWS, []) };
  };
  return { url, start, database, fail: () => (isUp = false), repair: () => (isUp = true) };
}

describe("the generation that a server was found to speak", () => {
  it("is a row: the next start, also of another server of Triplane, does not ask again", async () => {
    const { url, start } = await world();
    const own = { url, transport: "http" } as const;
    const first = await start({ own });
    expect(first.asked).toBeGreaterThan(0);
    expect(first.rows).toEqual([{ tenant: "", server: "own", era: "legacy", settings: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect((await start({ own })).asked).toBe(0);
    await first.app.close();
    expect((await start({ own })).asked).toBe(0);
  });

  it("holds for a day, whatever reconnects meanwhile", async () => {
    const { url, start } = await world();
    const own = { url, transport: "http" } as const;
    const at = (ms: number): TestAppOptions => ({
      overrides: { mcpTimes: QUICK, clock: { ...systemClock, now: () => new Date(Date.now() + ms) } },
    });
    await (await start({ own })).app.close();
    const late = await start({ own }, at(DAY_MS - 60_000));
    expect(late.asked).toBe(0);
    await late.app.close();
    expect((await start({ own }, at(DAY_MS + 60_000))).asked).toBeGreaterThan(0);
  });

  it("is not taken for another address, nor for another tenant's server of the name", async () => {
    const { url, start } = await world();
    const first = await start({ own: { url, transport: "http" } });
    await first.app.close();
    const other = await start({ own: { url: `${url}/v2`, transport: "http" } });
    expect(other.asked).toBeGreaterThan(0);
    await other.app.close();
    const own = { url: `${url}/v2`, transport: "http" } as const;
    const { rows, asked } = await start({}, { config: { tenants: { local: { mcpServers: { own } } } } });
    expect(asked).toBeGreaterThan(0);
    expect(rows.map(({ tenant }) => tenant)).toEqual(["", "local"]);
  });

  it("is forgotten when a connection fails", async () => {
    const { url, start, database, fail, repair } = await world();
    const own = { url, transport: "http" } as const;
    await (await start({ own })).app.close();
    fail();
    const { app } = await appWith({ own }, NO_CALL, { database });
    await expect.poll(() => app.services.of("local").mcpServers.get("own")?.state.kind).toBe("AWAY");
    expect(await app.database.sql.query(ROWS, [])).toEqual([]);
    repair();
    await expect.poll(() => app.services.of("local").mcpServers.get("own")?.state.kind).toBe("CONNECTED");
    await expect.poll(() => app.database.sql.query(ROWS, [])).toMatchObject([{ era: "legacy" }]);
  });

  it("has a digest of the settings without their secrets", () => {
    const server = { name: "own", include: null, exclude: [], readOnlyTools: [], toolTimeoutMs: null, roots: "asked" } as const;
    const withKey = (key: string) =>
      settingsDigest({
        ...server,
        way: { kind: "stdio", command: "x", args: ["--key", key], env: {}, cwd: "/", sandbox: "none" },
        variableValues: [key],
      });
    expect(withKey("a-secret-token")).toBe(withKey("b-secret-token"));
  });
});
