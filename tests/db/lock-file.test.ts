import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DataFolderInUse, DataFolderUnusable, lockFolder } from "../../src/db/lock-file.ts";
import { temporaryFolder } from "../support/app.ts";

describe("the lock of a data folder", () => {
  it("is held by one, refused to the next with the holder's id, and free again after its release", async () => {
    const folder = await temporaryFolder();
    const release = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(new RegExp(`in use by process ${process.pid}`));
    await expect(lockFolder(folder)).rejects.toBeInstanceOf(DataFolderInUse);
    await release();
    await (
      await lockFolder(folder)
    )();
  });

  it.each([
    [
      "its lock is none",
      "triplane.lock",
      (path: string) => writeFile(path, "no database at all, but long enough for one".repeat(20)),
    ],
    ["its owner cannot be written", "triplane.owner", (path: string) => mkdir(path)],
  ])("is refused with what to do, and not held, if %s", async (_name, file, put) => {
    const folder = await temporaryFolder();
    await put(join(folder, file));
    const refusal = await lockFolder(folder).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DataFolderUnusable);
    expect(refusal).toMatchObject({ message: expect.stringContaining("set TRIPLANE_DATA_DIR to a folder that can be written") });
    await rm(join(folder, file), { recursive: true });
    await (
      await lockFolder(folder)
    )();
  });

  it("goes to exactly one of many that come at once", async () => {
    const folder = await temporaryFolder();
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    for (const result of results) if (result.status === "fulfilled") await result.value();
  });
});
