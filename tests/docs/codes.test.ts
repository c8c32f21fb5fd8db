import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { COMMAND_REFUSAL_CODES } from "../../src/agent/actors/actor.ts";

it("docs/graphql.md lists every code of a user error, and no other", async () => {
  const text = await readFile(new URL("../../docs/graphql.md", import.meta.url), "utf8");
  const row = /^\| `userErrors\.code` \| (.*) \|$/m.exec(text)?.[1] ?? "";
  const codes = row.replaceAll(/\([^)]*\)/g, "").match(/\b[A-Z]+(?:_[A-Z]+)*\b/g) ?? [];
  expect(codes.toSorted()).toEqual(COMMAND_REFUSAL_CODES.toSorted());
});
