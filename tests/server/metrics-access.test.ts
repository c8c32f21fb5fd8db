import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";

const ACTORS = [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor];

it("/metrics are for an administrator, and who has their token, on this machine as elsewhere; no tenant is named", async () => {
  const metricsTokenHash = createHash("sha256").update("collector").digest("hex");
  const app = await startTestApp({ config: { actors: ACTORS, metricsTokenHash } });
  const url = new URL("/metrics", app.url);
  const status = async (headers: Record<string, string>): Promise<number> => (await fetch(url, { headers })).status;
  for (const through of [{}, ...["forwarded", "x-forwarded-for", "x-real-ip"].map((name) => ({ [name]: "203.0.113.7" }))]) {
    expect(await status(through)).toBe(401);
    expect(await status({ ...through, authorization: "Bearer anna-token" })).toBe(401);
    expect(await status({ ...through, authorization: "Bearer wrong" })).toBe(401);
    expect(await status({ ...through, authorization: "Bearer ada-token" })).toBe(200);
    expect(await status({ ...through, authorization: "Bearer collector" })).toBe(200);
  }
  expect(await (await fetch(url, { headers: { authorization: "Bearer collector" } })).text()).not.toMatch(/acme|other/);
});

it("/metrics without a token of their own are for this machine as well; a proxy that says so is not this machine", async () => {
  const app = await startTestApp({ config: { actors: ACTORS } });
  const url = new URL("/metrics", app.url);
  const status = async (headers: Record<string, string>): Promise<number> => (await fetch(url, { headers })).status;
  expect(await status({})).toBe(200);
  for (const proxied of ["forwarded", "x-forwarded-for", "x-real-ip"]) {
    expect(await status({ [proxied]: "203.0.113.7" })).toBe(401);
    expect(await status({ [proxied]: "203.0.113.7", authorization: "Bearer ada-token" })).toBe(200);
  }
});
