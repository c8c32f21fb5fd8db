import names from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { expect, it, onTestFinished, vi } from "vitest";
import { INTERNET } from "../../../../src/agent/workspace/network/reach.ts";

it("names are looked up one after the other for all programs of a server, so that its own are not held up", async () => {
  const looks: PromiseWithResolvers<never>[] = [];
  const spy = vi.spyOn(names, "lookup").mockImplementation(() => {
    const look = Promise.withResolvers<never>();
    looks.push(look);
    return look.promise;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const both = Promise.allSettled([INTERNET.lookup("slow.example"), INTERNET.lookup("next.example")]);
  await new Promise(setImmediate);
  expect(looks).toHaveLength(1);
  looks[0]?.reject(new Error("EAI_AGAIN"));
  await expect.poll(() => looks).toHaveLength(2);
  looks[1]?.reject(new Error("ENOTFOUND"));
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
