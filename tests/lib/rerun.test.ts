import { expect, it } from "vitest";
import { Rerun } from "../../src/lib/rerun.ts";

it("work that is asked for during a run is done by one more", async () => {
  let runs = 0;
  const rerun = new Rerun(async () => {
    runs += 1;
    await Promise.resolve();
  });
  await Promise.all([rerun.request(), rerun.request(), rerun.request()]);
  expect(runs).toBe(2);
});

it("a request that comes just when a run has ended is not lost", async () => {
  const ended = Promise.withResolvers<void>();
  let runs = 0;
  const rerun = new Rerun(() => {
    runs += 1;
    return ended.promise;
  });
  const first = rerun.request();
  // Is called after the run went on from the work's end, and before anybody hears of the end of the run.
  const second = ended.promise.then(() => rerun.request());
  ended.resolve();
  await Promise.all([first, second]);
  expect(runs).toBe(2);
});

it("work that failed is done again by the next request", async () => {
  let runs = 0;
  const rerun = new Rerun(async () => {
    runs += 1;
    if (runs === 1) throw new Error("failed");
  });
  await expect(rerun.request()).rejects.toThrow("failed");
  await rerun.request();
  expect(runs).toBe(2);
});
