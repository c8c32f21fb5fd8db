import { expect, it } from "vitest";
import { RememberedFiles, type FilesByPath } from "../../../../src/agent/workspace/changes/file-watches.ts";

it("the files that owners remember are counted as they grow, within one room: what is forgotten is read again (invariant 13)", () => {
  const remembered = new RememberedFiles();
  const one = {};
  const files: FilesByPath = new Map();
  remembered.keep(one, files);
  const few = remembered.bytes;
  for (let number = 0; number < 1_000; number += 1)
    files.set(`${number}`, { path: `${number}`, callId: "call", digest: "", stamp: "", bytes: 1, change: null });
  remembered.keep(one, files);
  expect(remembered.bytes).toBeGreaterThan(few + 1_000 * 100);
  expect(remembered.of(one)).toBe(files);
  for (let owner = 0; owner < 1_000; owner += 1) remembered.keep({}, files);
  expect(remembered.bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(remembered.of(one)).toBe(null);
});
