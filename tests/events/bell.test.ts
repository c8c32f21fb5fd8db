import { expect, it, onTestFinished } from "vitest";
import { postgresBell, type Bell, type BellTimes } from "../../src/events/bell.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { silentLogger } from "../support/silent-logger.ts";

/** The bell of a server, which ends with the test. */
function bellOf(url: string, serverId: string, times?: BellTimes): Bell {
  const bell = postgresBell(url, "0", serverId, silentLogger, times);
  onTestFinished(() => bell.close());
  return bell;
}

/** Rings until a ring is heard: one of them may be lost while a connection is made anew. */
async function untilHeard(ringing: Bell, heard: readonly string[]): Promise<void> {
  const ringOnce = (): readonly string[] => {
    ringing.ring({ tenant: "acme", isSignal: true });
    return heard;
  };
  await expect.poll(ringOnce).toContain("acme");
}

it("a connection of which nothing comes does not count as heard: it is made anew, and rings are heard again", async () => {
  const url = new URL(await testDatabaseUrl());
  const proxy = await cuttingProxy(Number(url.port));
  const behind = new URL(url);
  behind.port = String(proxy.port);
  const heard: string[] = [];
  const listening = bellOf(behind.href, "listening", { heartbeatMs: 20, answerMs: 100 });
  listening.listen((rings) => heard.push(...(rings.length === 0 ? ["any"] : rings.map(({ tenant }) => tenant))));
  const ringing = bellOf(url.href, "ringing");
  await expect.poll(() => heard).toContain("any");
  await expect.poll(() => ringing.isConnected()).toBe(true);

  heard.length = 0;
  proxy.silence();
  // The new connection goes through.
  await expect.poll(() => heard).toContain("any");
  await untilHeard(ringing, heard);
});

it("a NOTIFY that is never answered holds the rings back no longer than its time", async () => {
  const url = new URL(await testDatabaseUrl());
  const proxy = await cuttingProxy(Number(url.port));
  const behind = new URL(url);
  behind.port = String(proxy.port);
  const heard: string[] = [];
  bellOf(url.href, "listening").listen((rings) => heard.push(...rings.map(({ tenant }) => tenant)));
  const ringing = bellOf(behind.href, "ringing", { heartbeatMs: 1_000_000, answerMs: 100 });
  await expect.poll(() => ringing.isConnected()).toBe(true);
  proxy.silence();
  ringing.ring({ tenant: "lost", isSignal: true });
  await expect.poll(() => ringing.isConnected()).toBe(false);
  await expect.poll(() => ringing.isConnected()).toBe(true);
  await untilHeard(ringing, heard);
});
