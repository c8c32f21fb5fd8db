import { readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { obtainCopy } from "../../src/db/copies/obtain-copy.ts";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { embeddedFolder } from "../support/embedded.ts";

const ACTORS = [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor];
const TYPE = { "content-type": "application/json" };

/** The status of an answer. `fetch` sets no Host. */
function status(
  app: TestApp,
  headers: Record<string, string>,
  { method = "POST", path = "/database-copies?tenant=acme" } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: app.port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end();
  });
}

it(
  "copies of the embedded database are for administrators on this machine, through no proxy and for no page",
  { timeout: 60_000 },
  async () => {
    const folder = await embeddedFolder();
    const app = await startTestApp({ database: { kind: "embedded", folder }, config: { actors: ACTORS } });
    const ada = { ...TYPE, authorization: "Bearer ada-token" };
    expect(await status(app, TYPE)).toBe(401);
    expect(await status(app, { ...TYPE, authorization: "Bearer wrong" })).toBe(401);
    expect(await status(app, { ...TYPE, authorization: "Bearer anna-token" })).toBe(401);
    for (const proxied of ["forwarded", "x-forwarded-for", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "via"])
      expect(await status(app, { ...ada, [proxied]: "127.0.0.1" }), proxied).toBe(403);
    expect(await status(app, { ...ada, host: "triplane.example" })).toBe(403);
    expect(await status(app, { ...ada, origin: `http://127.0.0.1:${app.port}` })).toBe(403);
    expect(await status(app, { ...ada, origin: "http://evil.example" })).toBe(403);
    expect(await status(app, ada, { method: "GET" })).toBe(405);
    expect(await status(app, { authorization: "Bearer ada-token", "content-type": "text/plain" })).toBe(405);
    // An administrator asks about their own tenant alone (invariant 12).
    expect(await status(app, { ...ada, authorization: "Bearer zoe-token" })).toBe(403);
    expect(await status(app, ada, { path: "/database-copies?tenant=other" })).toBe(403);
    expect(await status(app, ada, { path: "/database-copies" })).toBe(403);
    expect(await readdir(folder)).not.toContain("copies");
    expect(await status(app, ada)).toBe(200);
    expect(await readdir(join(folder, "copies"))).toHaveLength(1);
  },
);

it(
  "a command finds the server, and its refusal says which token is missing, or which tenant is meant",
  { timeout: 60_000 },
  async () => {
    const folder = await embeddedFolder();
    await startTestApp({ database: { kind: "embedded", folder }, config: { actors: ACTORS } });
    const { signal } = new AbortController();
    const asked = { dataFolder: folder, tenant: "acme", token: "ada-token", signal };
    await expect(obtainCopy({ ...asked, token: null })).rejects.toThrow(/TRIPLANE_TOKEN/);
    await expect(obtainCopy({ ...asked, tenant: "a&b" })).rejects.toThrow(
      /made no copy: the token is of an administrator of acme, not of a&b: give --tenant acme, or the token of an administrator of a&b$/,
    );
    const copy = await obtainCopy(asked);
    expect(await readdir(join(copy, "pglite"))).toContain("PG_VERSION");
    await rm(copy, { recursive: true });
  },
);

it(
  "a server without actors copies for this machine, and one on PostgreSQL has nothing to copy",
  { timeout: 60_000 },
  async () => {
    const folder = await embeddedFolder();
    const app = await startTestApp({ database: { kind: "embedded", folder } });
    expect(await status(app, TYPE)).toBe(200);
    expect(await status(app, { ...TYPE, "x-forwarded-for": "127.0.0.1" })).toBe(403);
    const other = await startTestApp();
    expect(await status(other, TYPE)).toBe(404);
  },
);
