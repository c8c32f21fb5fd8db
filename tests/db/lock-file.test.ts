import { describe, expect, it } from "vitest";
import { DataFolderInUse, lockFolder } from "../../src/db/lock-file.ts";
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

  it("goes to exactly one of many that come at once", async () => {
    const folder = await temporaryFolder();
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    for (const result of results) if (result.status === "fulfilled") await result.value();
  });
});
