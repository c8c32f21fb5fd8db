import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AnsweringFolders, type MountedFolder } from "../../../src/agent/workspace/answering-folders.ts";
import { CAN_MOUNT, hungFolder } from "../../support/hung-folder.ts";
import { temporaryFolder } from "../../support/app.ts";

const MOUNTS: readonly MountedFolder[] = [
  { path: "/", type: "ext4" },
  { path: "/mnt", type: "nfs4" },
  { path: "/mnt/local", type: "xfs" },
  { path: "/mnt/other", type: "fuse.sshfs" },
];
const NEVER = new AbortController().signal;

/** Folders whose file systems answer when the test says so. */
function foldersOf(mounts: readonly MountedFolder[] | null = MOUNTS) {
  const asked: { readonly folder: string; readonly answer: PromiseWithResolvers<unknown> }[] = [];
  const look = (folder: string): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    asked.push({ folder, answer });
    return answer.promise;
  };
  return { asked, folders: new AnsweringFolders({ look, mounts: () => mounts, boundMs: 50 }) };
}

describe("folders of agents", () => {
  it("of disks of this machine answer without a look", async () => {
    const { asked, folders } = foldersOf();
    expect(await Promise.all(["/srv/a", "/mnt/local/a", "/mntx"].map((folder) => folders.answers(folder)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(asked).toEqual([]);
  });

  it("of other file systems are looked at first, by one look a file system; an error is an answer", async () => {
    const { asked, folders } = foldersOf();
    const both = [folders.answers("/mnt/a"), folders.answers("/mnt/b/c")];
    expect(asked.map(({ folder }) => folder)).toEqual(["/mnt/a"]);
    asked[0]?.answer.reject(new Error("ENOENT"));
    expect(await Promise.all(both)).toEqual([true, true]);
    const again = folders.answers("/mnt/b/c");
    expect(asked).toHaveLength(2);
    asked[1]?.answer.resolve(null);
    expect(await again).toBe(true);
  });

  it("of one that hangs are not asked again until it answers; others are", async () => {
    const { asked, folders } = foldersOf();
    expect(await folders.answers("/mnt/a")).toBe(false);
    expect(folders.hung).toBe(1);
    expect(await Promise.all(["/mnt/a", "/mnt/b"].map((folder) => folders.answers(folder)))).toEqual([false, false]);
    expect(asked).toHaveLength(1);
    const other = folders.answers("/mnt/other/x");
    asked[1]?.answer.resolve(null);
    expect(await other).toBe(true);
    asked[0]?.answer.resolve(null);
    await delay(0);
    expect(folders.hung).toBe(0);
    const now = folders.answers("/mnt/b");
    asked[2]?.answer.resolve(null);
    expect(await now).toBe(true);
  });

  it("are looked at one by one where nobody can say what is mounted", async () => {
    const { asked, folders } = foldersOf(null);
    void folders.answers("/a");
    const other = folders.answers("/b");
    asked[1]?.answer.resolve(null);
    expect(await other).toBe(true);
  });

  it("are no longer waited for by who gives up", async () => {
    const { folders } = foldersOf();
    const givingUp = new AbortController();
    const waiting = folders.answering("/mnt/a", givingUp.signal);
    givingUp.abort();
    expect(await waiting).toBe(false);
  });
});

it.skipIf(!CAN_MOUNT)(
  "a file system that hangs is found out, without anybody waiting for it, and answers when its program has ended",
  async () => {
    const hung = await hungFolder();
    const folders = new AnsweringFolders({ boundMs: 200 });
    expect(await folders.answers(hung.folder)).toBe(false);
    expect(await folders.answers(await temporaryFolder())).toBe(true);
    await hung.end();
    expect(await folders.answering(hung.folder, NEVER)).toBe(true);
  },
);
