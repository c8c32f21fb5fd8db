import { describe, expect, it } from "vitest";
import { AskedFolder } from "../../../src/agent/mcp/asked-folder.ts";
import { FolderSessions, MOST_FOLDERS } from "../../../src/agent/mcp/folder-sessions.ts";
import { HttpRefused } from "../../../src/agent/mcp/http-refused.ts";

const NEVER = new AbortController().signal;

/** Connections that end when they are told to; those of the processes in `withTasks` have tasks. */
function world(withTasks: ReadonlySet<string> = new Set()) {
  const opened: string[] = [];
  const ended: string[] = [];
  const sessions = new FolderSessions({
    open: async (folder) => {
      if (folder.startsWith("/bad")) throw new Error("it does not start");
      opened.push(folder);
      const { promise: closed, resolve } = Promise.withResolvers<string>();
      return { process: folder, closed, close: async () => resolve("closed") };
    },
    hasTasks: (process) => withTasks.has(process ?? ""),
    onEnded: async ({ process }) => void ended.push(process ?? ""),
  });
  const folders = Array.from({ length: MOST_FOLDERS }, (_, index) => `/${index}`);
  const fill = async (): Promise<void> => {
    for (const folder of folders) await sessions.during(folder, NEVER, async () => {});
  };
  return { sessions, opened, ended, fill };
}

describe("the connections of a server that keeps its roots", () => {
  it("are one a folder, for all its calls", async () => {
    const { sessions, opened } = world();
    const processes = await Promise.all(
      ["/a", "/b", "/a"].map((folder) => sessions.during(folder, NEVER, async ({ process }) => process)),
    );
    expect(processes).toEqual(["/a", "/b", "/a"]);
    expect(opened).toEqual(["/a", "/b"]);
    await sessions.close();
  });

  it("end when their place is needed, the one that is idle for the longest time first, but none with a task", async () => {
    const { sessions, ended, fill } = world(new Set(["/0"]));
    await fill();
    await sessions.during("/1", NEVER, async () => {});
    await sessions.during("/new", NEVER, async () => {});
    await expect.poll(() => ended).toEqual(["/2"]);
    expect(sessions.of("/0")).not.toBeNull();
    expect(sessions.of("/2")).toBeNull();
    await sessions.close();
  });

  it("are bounded: a call in a further folder is refused while all are in use", async () => {
    const { sessions, fill } = world();
    await fill();
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const calls = Array.from({ length: MOST_FOLDERS }, (_, index) => sessions.during(`/${index}`, NEVER, () => end));
    await expect(sessions.during("/new", NEVER, async () => {})).rejects.toThrow("it was not called, so call it again later");
    resolve();
    await Promise.all(calls);
    await sessions.during("/new", NEVER, async () => {});
    await sessions.close();
  });

  it("that cannot be opened are tried again with the next call, and one that its server has ended is opened anew", async () => {
    const { sessions, opened } = world();
    await expect(sessions.during("/bad", NEVER, async () => {})).rejects.toThrow("it does not start");
    await expect(sessions.during("/bad", NEVER, async () => {})).rejects.toThrow("it does not start");
    let calls = 0;
    const work = async (): Promise<number> => {
      calls += 1;
      if (calls === 1) throw new HttpRefused(404, null);
      return calls;
    };
    expect(await sessions.during("/a", NEVER, work)).toBe(2);
    expect(opened).toEqual(["/a", "/a"]);
    await sessions.close();
  });
});

it("a server of several folders is told that of the calls under way, if all have the same", async () => {
  const folder = new AskedFolder(null);
  expect(folder.asked()).toBeNull();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const first = folder.during("/a", () => end);
  expect(folder.asked()).toBe("/a");
  const second = folder.during("/b", () => end);
  expect(folder.asked()).toBeNull();
  resolve();
  await Promise.all([first, second]);
  expect(new AskedFolder("/c").asked()).toBe("/c");
});
