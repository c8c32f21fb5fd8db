import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";

it("/metrics are for this machine, an administrator, and who has their token; a proxy is not this machine; no tenant is named", async () => {
  const metricsTokenHash = createHash("sha256").update("collector").digest("hex");
  const actors = [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor];
  const app = await startTestApp({ config: { actors, metricsTokenHash } });
  const url = new URL("/metrics", app.url);
  const status = async (headers: Record<string, string>): Promise<number> => (await fetch(url, { headers })).status;
  expect(await status({})).toBe(200);
  for (const proxied of ["forwarded", "x-forwarded-for", "x-real-ip"]) {
    const through = { [proxied]: "203.0.113.7" };
    expect(await status(through)).toBe(401);
    expect(await status({ ...through, authorization: "Bearer anna-token" })).toBe(401);
    expect(await status({ ...through, authorization: "Bearer wrong" })).toBe(401);
    expect(await status({ ...through, authorization: "Bearer ada-token" })).toBe(200);
    expect(await status({ ...through, authorization: "Bearer collector" })).toBe(200);
  }
  expect(await (await fetch(url)).text()).not.toMatch(/acme|other/);
});
