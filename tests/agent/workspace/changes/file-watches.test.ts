import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FileWatches } from "../../../../src/agent/workspace/changes/file-watches.ts";
import { temporaryFolder } from "../../../support/app.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

describe("a file watch", () => {
  it("hints at a file once it is watched, so that no change between a call and its watch is missed", async () => {
    const root = await temporaryFolder();
    await writeFile(join(root, "a.txt"), "one");
    await writeFile(join(root, "b.txt"), "one");
    const hints = new Set<string>();
    const watch = new FileWatches(silentLogger).open(root, (name) => hints.add(name));
    onTestFinished(() => watch.close());
    for (const name of ["a.txt", "b.txt"]) {
      expect(watch.add([name])).toEqual([name]);
      // Before the system was asked to watch it.
      writeFileSync(join(root, name), "two");
      expect(hints).not.toContain(name);
      await expect.poll(() => hints).toContain(name);
    }
    expect(watch.add(["a.txt", "b.txt"])).toEqual([]);
  });
});
