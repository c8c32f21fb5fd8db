import { describe, expect, it } from "vitest";
import { iterate, type Request, type ResumeStatus, type Transport } from "../../clients/src/index.ts";
import { onWire } from "../../clients/src/transport.ts";

const WATCH = "subscription($since: Cursor) { timeline(since: $since) { cursor caughtUp } }";

type Numbered = { readonly timeline: { readonly cursor: string; readonly caughtUp: boolean } };

/**
 * A server that sends the pages after `since` as fast as it can, up to the last, and then ends the stream. One that waits
 * ends it as `until` does: after the last page, but not if it is asked to go on from there.
 */
function fastServer(last: number, afterLast: "completes" | "waits" = "completes") {
  const attempts: Request[] = [];
  let furthest = 0;
  const transport: Transport = {
    subscribe(request, sink) {
      attempts.push(request);
      let isOver = false;
      let page = Number(request.variables?.["since"] ?? 0);
      if (page === last && afterLast === "waits") return () => {};
      const send = (): void => {
        if (isOver) return;
        if (page === last) return sink.complete();
        page += 1;
        furthest = Math.max(furthest, page);
        sink.next({ data: { timeline: { cursor: String(page), caughtUp: false } } });
        setImmediate(send);
      };
      setImmediate(send);
      return () => {
        isOver = true;
      };
    },
    dispose: () => {},
  };
  return { transport, attempts, furthest: () => furthest };
}

describe("iterate", () => {
  it("keeps a bounded number of results for a loop that takes none, and loses and repeats nothing (invariants 2 and 10)", async () => {
    const server = fastServer(1_000);
    const seen: string[] = [];
    let most = 0;
    for await (const { data } of iterate<Numbered>(
      server.transport,
      { query: WATCH, variables: { since: "0" } },
      { mostKept: 8 },
    )) {
      seen.push(data?.timeline.cursor ?? "");
      // A consumer that is slower than the server by far.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, server.furthest() - seen.length);
    }
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index + 1)));
    // One more tells that there is no room: it is not kept, and asked for again.
    expect(most).toBeLessThanOrEqual(8 + 1);
    expect(server.attempts.length).toBeGreaterThan(50);
  });

  it("takes one result at a time if it shall keep none, and asks no page twice for ever", async () => {
    const server = fastServer(5);
    const seen: (string | undefined)[] = [];
    const pages = iterate<Numbered>(server.transport, { query: WATCH, variables: { since: "0" } }, { mostKept: 0 });
    for await (const { data } of pages) seen.push(data?.timeline.cursor);
    expect(seen).toEqual(["1", "2", "3", "4", "5"]);
    expect(server.attempts.length).toBeLessThanOrEqual(5);
  });

  it.each([1, 5, 6, 7, 8])("ends with the page that ends the stream, although %i pages fill what is kept", async (mostKept) => {
    const server = fastServer(6, "waits");
    const pages = iterate<Numbered>(server.transport, { query: WATCH, variables: { since: "0" } }, { mostKept });
    const seen: (string | undefined)[] = [(await pages.next()).value?.data?.timeline.cursor];
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    for await (const { data } of pages) seen.push(data?.timeline.cursor);
    expect(seen).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  it.each([1, 2, 3, 4])("tells a refusal after the 3 pages before it, although %i fill what is kept", async (mostKept) => {
    const errors = [{ message: "too much", extensions: { code: "ANSWER_TOO_LARGE" } }];
    const refusing: Transport = {
      subscribe(request, sink) {
        setImmediate(() => {
          for (let page = Number(request.variables?.["since"]) + 1; page <= 3; page += 1)
            sink.next({ data: { timeline: { cursor: String(page), caughtUp: false } } });
          sink.error(errors);
        });
        return () => {};
      },
      dispose: () => {},
    };
    const seen: unknown[] = [];
    const pages = iterate<Numbered>(refusing, { query: WATCH, variables: { since: "0" } }, { mostKept });
    for await (const result of pages) seen.push(result.data?.timeline.cursor ?? result.errors);
    expect(seen).toEqual(["1", "2", "3", errors]);
  });

  it("ends the subscription when the loop breaks off", async () => {
    const server = fastServer(1_000);
    for await (const { data } of iterate<Numbered>(server.transport, { query: WATCH })) if (data?.timeline.cursor === "5") break;
    const sent = server.furthest();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(server.furthest()).toBe(sent);
  });

  it("ends at once when it is left while it waits for a result", async () => {
    let isOpen = false;
    const silent: Transport = {
      subscribe: () => {
        isOpen = true;
        return () => {
          isOpen = false;
        };
      },
      dispose: () => {},
    };
    const pages = iterate<Numbered>(silent, { query: WATCH });
    const waiting = pages.next();
    expect(isOpen).toBe(true);
    await pages.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(isOpen).toBe(false);
  });

  it("keeps the subscription while every result is waited for, however few are kept", async () => {
    const server = fastServer(50);
    let count = 0;
    for await (const _ of iterate<Numbered>(server.transport, { query: WATCH }, { mostKept: 1 })) count += 1;
    expect(count).toBe(50);
    expect(server.attempts).toHaveLength(1);
  });

  it("asks for a document by its id, and then cannot know if the document resumes", async () => {
    const server = fastServer(3);
    const statuses: ResumeStatus[] = [];
    const request = { documentId: "watch", variables: { since: "0" } };
    const pages = iterate<Numbered>(server.transport, request, { onStatus: (status) => statuses.push(status) });
    const cursors: (string | undefined)[] = [];
    for await (const { data } of pages) cursors.push(data?.timeline.cursor);
    expect(cursors).toEqual(["1", "2", "3"]);
    expect(statuses.at(-1)).toEqual({ kind: "ended", cursor: "3", error: null });
    expect(onWire(request)).toEqual({
      query: "",
      operationName: null,
      variables: { since: "0" },
      extensions: { documentId: "watch" },
    });
  });
});
