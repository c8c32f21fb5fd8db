import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import type { Bell } from "../../../src/events/bell/bell.ts";
import { PostgresBell, type BellTimes } from "../../../src/events/bell/postgres-bell.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { proxiedDatabase } from "../../support/proxied-database.ts";
import { silentLogger } from "../../support/silent-logger.ts";

/** The bell of a server, which ends with the test. */
function bellOf(url: string, serverId: string, times?: BellTimes): Bell {
  const bell = new PostgresBell(url, "0", serverId, silentLogger, times);
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
  const { url, proxied, proxy } = await proxiedDatabase();
  const heard: string[] = [];
  const listening = bellOf(proxied, "listening", { heartbeatMs: 20, answerMs: 100 });
  listening.listen((rings) => heard.push(...(rings.length === 0 ? ["any"] : rings.map(({ tenant }) => tenant))));
  const ringing = bellOf(url, "ringing");
  await expect.poll(() => heard).toContain("any");
  await expect.poll(() => ringing.isConnected()).toBe(true);

  heard.length = 0;
  proxy.silence();
  // The new connection goes through.
  await expect.poll(() => heard).toContain("any");
  await untilHeard(ringing, heard);
});

it("a NOTIFY that is never answered holds the rings back no longer than its time", async () => {
  const { url, proxied, proxy } = await proxiedDatabase();
  const heard: string[] = [];
  const listening = bellOf(url, "listening");
  listening.listen((rings) => heard.push(...rings.map(({ tenant }) => tenant)));
  await expect.poll(() => listening.isConnected()).toBe(true);
  const ringing = bellOf(proxied, "ringing", { heartbeatMs: 1_000_000, answerMs: 100 });
  await expect.poll(() => ringing.isConnected()).toBe(true);
  proxy.silence();
  ringing.ring({ tenant: "lost", isSignal: true });
  await expect.poll(() => ringing.isConnected()).toBe(false);
  await expect.poll(() => ringing.isConnected()).toBe(true);
  await untilHeard(ringing, heard);
});

it("while no other server is connected nothing is sent; one that comes is told that it may have missed any, and then hears", async () => {
  const url = await testDatabaseUrl();
  const { sent, looks } = await spyOn(url);
  const first = bellOf(url, "first", { heartbeatMs: 20, answerMs: 5_000 });
  await expect.poll(() => sent).toEqual(["first"]);
  // It knows the answer of one look when it begins the next.
  await expect.poll(looks).toBeGreaterThan(1);
  first.ring({ tenant: "unheard", isSignal: false });

  const heard: string[] = [];
  const second = bellOf(url, "second");
  second.listen((rings) => heard.push(...rings.map(({ tenant }) => tenant)));
  // The first one says that any may have been missed when it sees the second one, which may be before it hears of it.
  await expect.poll(() => sent.toSorted()).toEqual(["first", "first", "second"]);
  first.ring({ tenant: "acme", isSignal: false });
  await expect.poll(() => heard).toEqual(["acme"]);
});

it("what was not sent is told at the end, also if nobody else was seen", async () => {
  const url = await testDatabaseUrl();
  const { sent, looks } = await spyOn(url);
  const bell = bellOf(url, "alone", { heartbeatMs: 20, answerMs: 5_000 });
  await expect.poll(looks).toBeGreaterThan(1);
  bell.ring({ tenant: "unheard", isSignal: false });
  await bell.close();
  await expect.poll(() => sent).toEqual(["alone", "alone"]);
});

it("servers whose URL names their connections otherwise know each other all the same", async () => {
  const url = new URL(await testDatabaseUrl());
  url.searchParams.set("application_name", "ours");
  const { looks } = await spyOn(url.href);
  const heard: string[] = [];
  bellOf(url.href, "listening").listen((rings) => heard.push(...rings.map(({ tenant }) => tenant)));
  const ringing = bellOf(url.href, "ringing", { heartbeatMs: 20, answerMs: 5_000 });
  await expect.poll(looks).toBeGreaterThan(5);
  ringing.ring({ tenant: "acme", isSignal: false });
  await expect.poll(() => heard).toEqual(["acme"]);
});

/** Hears all that is sent, and counts the times at which bells asked whether others are there. */
async function spyOn(url: string): Promise<{ readonly sent: string[]; readonly looks: () => Promise<number> }> {
  const spy = new pg.Client({ connectionString: url });
  await spy.connect();
  onTestFinished(() => spy.end());
  const sent: string[] = [];
  spy.on("notification", ({ payload = "" }) => sent.push(payload));
  await spy.query("LISTEN triplane");
  const seen = new Set<string>();
  const looks = async (): Promise<number> => {
    const { rows } = await spy.query<{ look: string }>(
      `SELECT pid || ' ' || query_start AS look FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%AS alone'`,
    );
    for (const { look } of rows) seen.add(look);
    return seen.size;
  };
  return { sent, looks };
}
