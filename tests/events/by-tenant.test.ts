import { expect, it, onTestFinished, vi } from "vitest";
import { eachByTenant } from "../../src/events/by-tenant.ts";

const row = (tenant: string, id: number) => ({ tenant, id });

it("rows of a tenant are done in their order, those of others beside them", async () => {
  const done: string[] = [];
  const held = Promise.withResolvers<void>();
  const working = eachByTenant([row("a", 1), row("a", 2), row("b", 1), row("b", 2)], async ({ tenant, id }) => {
    if (tenant === "a" && id === 1) await held.promise;
    done.push(`${tenant}${id}`);
  });
  await expect.poll(() => done).toEqual(["b1", "b2"]);
  held.resolve();
  expect(await working).toHaveLength(4);
  expect(done).toEqual(["b1", "b2", "a1", "a2"]);
});

it("a tenant whose rows take long leaves the rest to the next time", async () => {
  let now = 0;
  const time = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => time.mockRestore());
  const rows = [row("slow", 1), row("slow", 2), ...Array.from({ length: 9 }, (_none, id) => row(`quick ${id}`, id))];
  const done = await eachByTenant(rows, async ({ tenant }) => {
    if (tenant === "slow") now += 3_000;
  });
  expect(done.filter(({ tenant }) => tenant === "slow")).toEqual([row("slow", 1)]);
  expect(done).toHaveLength(10);
});

it("nothing is nothing", async () => {
  expect(await eachByTenant([], () => Promise.reject(new Error("no row")))).toEqual([]);
});
