import { describe, expect, it } from "vitest";
import { ToldFolder } from "../../../src/agent/mcp/told-folder.ts";

const NEVER = new AbortController().signal;

/** A server that asks again when it is told that its roots have changed, unless it is deaf, with calls that end when they are told to. */
function world(server: { isDeaf?: boolean; readonly isTold?: boolean } = {}) {
  const told: (string | null)[] = [];
  const folder: ToldFolder = new ToldFolder({
    isTold: server.isTold ?? true,
    tell: async () => {
      if (server.isDeaf !== true) told.push(folder.asked());
      return server.isDeaf !== true;
    },
  });
  const running = new Set<string>();
  const call = (name: string, signal = NEVER) => {
    const ended = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const done = folder.during(name.replace(/\d$/, ""), signal, async () => {
      running.add(name);
      begun.resolve();
      await ended.promise;
      running.delete(name);
    });
    done.catch(() => {});
    return { begun: begun.promise, end: () => (ended.resolve(), done), done };
  };
  return { folder, told, call, running };
}

describe("a server that keeps its roots", () => {
  it("is told a folder before its first call, and another one when no call is left in the first", async () => {
    const { folder, told, call, running } = world();
    expect(folder.asked()).toBeNull();
    const calls = [call("/a1"), call("/a2"), call("/b1"), call("/a3")] as const;
    await Promise.all([calls[0].begun, calls[1].begun]);
    expect([told, [...running]]).toEqual([["/a"], ["/a1", "/a2"]]);
    await calls[0].end();
    await calls[1].end();
    await calls[2].begun;
    // In the order of their arrival: nobody waits for ever.
    expect([told, [...running]]).toEqual([["/a", "/b"], ["/b1"]]);
    await calls[2].end();
    await calls[3].begun;
    expect(told).toEqual(["/a", "/b", "/a"]);
    await calls[3].end();
  });

  it("holds up nobody by a call that is cancelled while it waits", async () => {
    const { folder, call, running } = world();
    folder.asked();
    const first = call("/a1");
    await first.begun;
    const ending = new AbortController();
    const waiting = call("/b1", ending.signal);
    const behind = call("/a2");
    ending.abort(new Error("cancelled"));
    await expect(waiting.done).rejects.toThrow("cancelled");
    await behind.begun;
    expect([...running]).toEqual(["/a1", "/a2"]);
  });

  it("refuses calls in other folders while it asks a person, and asks nobody while such calls wait", async () => {
    const { folder, call, running } = world();
    folder.asked();
    const first = call("/a1");
    await first.begun;
    const answer = Promise.withResolvers<string>();
    const asking = folder.asking(() => answer.promise);
    await expect(call("/b1").done).rejects.toThrow("it was not called, so call it again later");
    await call("/a2").begun;
    answer.resolve("yes");
    expect(await asking).toBe("yes");
    const waiting = call("/b2");
    await expect(folder.asking(() => Promise.resolve("yes"))).rejects.toThrow("nobody is asked");
    expect([...running]).toEqual(["/a1", "/a2"]);
    await first.end();
    expect(running).not.toContain("/b2");
    waiting.done.catch(() => {});
  });

  it("and does not ask in time makes no call in a folder that it may not know", async () => {
    const ears = { isDeaf: true };
    const { folder, told, call, running } = world(ears);
    folder.asked();
    const calls = [call("/a1"), call("/b1")] as const;
    for (const { done } of calls) await expect(done).rejects.toThrow("did not ask for its roots in time");
    expect(running.size).toBe(0);
    // A late question, when no call is left.
    expect(folder.asked()).toBeNull();
    ears.isDeaf = false;
    await call("/b2").begun;
    expect([told, [...running]]).toEqual([["/b"], ["/b2"]]);
  });
});

it("a server that is only told when it asks has calls in different folders at once", async () => {
  const { folder, told, call, running } = world({ isTold: false });
  folder.asked();
  const calls = [call("/a1"), call("/b1")] as const;
  await Promise.all(calls.map(({ begun }) => begun));
  expect([told, [...running]]).toEqual([[], ["/a1", "/b1"]]);
});

it("a server that never asks has calls in all folders at once, and its first question is answered by the only one", async () => {
  const { folder, told, call } = world();
  const first = call("/a1");
  await first.begun;
  expect(folder.asked()).toBe("/a");
  expect(told).toEqual([]);
});
