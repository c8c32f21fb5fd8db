import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";

it("every metric of the server stands in the guide for operators, and no other", async () => {
  const app = await startTestApp();
  const metrics = await (await fetch(new URL("/metrics", app.url))).text();
  const guide = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const told = new Set([...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  const written = new Set([...guide.matchAll(/`((?:triplane|process|nodejs)_\w+)`/g)].map(([, name]) => name));
  expect(written).toEqual(told);
});
