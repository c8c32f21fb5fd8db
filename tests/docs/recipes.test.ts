import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";

/** Places that a recipe makes, and those that stand for several. */
const MADE = /(?:^|\/)x\.ts$|[*…]/;

it("docs/recipes.md names files and folders that there are", async () => {
  const root = new URL("../../", import.meta.url);
  const recipes = await readFile(new URL("docs/recipes.md", root), "utf8");
  const named = [...recipes.matchAll(/(?<![\w/])(?:src|tests|docs|clients|prisma|scripts)\/[\w./*-]+/g)].map(([path]) =>
    path.replace(/\.$/, ""),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !MADE.test(path) && !existsSync(new URL(path, root)))).toEqual([]);
});
