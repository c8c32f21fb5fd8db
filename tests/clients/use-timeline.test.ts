// @vitest-environment happy-dom
import { ApolloClient, InMemoryCache } from "@apollo/client";
import { ApolloProvider } from "@apollo/client/react";
import { Client, Provider } from "urql";
import { createElement, StrictMode, type FunctionComponent, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ResumeLink } from "../../clients/src/apollo.ts";
import { useTimeline as useTimelineOfApollo } from "../../clients/src/apollo-react.ts";
import type { Sink, Result, Transport } from "../../clients/src/index.ts";
import type { Timeline } from "../../clients/src/react.ts";
import type { TimelineView } from "../../clients/src/timeline-view.ts";
import { resumeExchange } from "../../clients/src/urql.ts";
import { useTimeline as useTimelineOfUrql } from "../../clients/src/urql-react.ts";

type Page = { readonly cursor: string; readonly caughtUp: boolean; readonly says: string };

/** Puts what the pages say in a row; "broken" breaks it. */
const LETTERS: TimelineView<Page, string> = {
  document:
    "subscription ($agentId: ID!, $since: Cursor) { timeline(agentIds: [$agentId], since: $since) { cursor caughtUp says } }",
  empty: "",
  after: (letters, { says }) => {
    if (says === "broken") throw new Error("the view broke");
    return letters + says;
  },
};

/** A server with a log for each agent: who subscribes gets what comes after their cursor, then what is said. */
function fakeServer() {
  const logs = new Map<string, string[]>();
  /** The times for which an agent is not found. */
  const unknown = new Map<string, number>();
  const open = new Set<{ readonly agentId: string; readonly sink: Sink<Result<unknown>> }>();
  const page = (says: string, cursor: number): Result<unknown> => ({
    data: { timeline: { cursor: String(cursor), caughtUp: true, says } },
  });
  const transport: Transport = {
    subscribe({ variables }, sink) {
      const agentId = String(variables?.["agentId"]);
      const reader = { agentId, sink };
      open.add(reader);
      queueMicrotask(() => {
        const left = unknown.get(agentId) ?? 0;
        unknown.set(agentId, left - 1);
        if (left > 0) return sink.next({ errors: [{ message: "there is no agent", extensions: { code: "NOT_FOUND" } }] });
        for (const [index, says] of (logs.get(agentId) ?? []).entries())
          if (open.has(reader) && index >= Number(variables?.["since"])) reader.sink.next(page(says, index + 1));
      });
      return () => open.delete(reader);
    },
    dispose: () => {},
  };
  const each = (agentId: string, what: (sink: Sink<Result<unknown>>) => void): void => {
    const readers = [...open].filter((reader) => reader.agentId === agentId);
    for (const { sink } of readers) what(sink);
  };
  return {
    transport,
    unknown,
    say(agentId: string, says: string): void {
      const log = logs.get(agentId) ?? [];
      logs.set(agentId, [...log, says]);
      each(agentId, (sink) => sink.next(page(says, log.length + 1)));
    },
    /** The log begins anew, and those who follow are told that their cursor is no more. */
    expire(agentId: string, says: readonly string[]): void {
      logs.set(agentId, [...says]);
      each(agentId, (sink) => sink.next({ errors: [{ message: "expired", extensions: { code: "CURSOR_EXPIRED" } }] }));
    },
    end: (agentId: string) => each(agentId, (sink) => sink.complete()),
    readers: () => [...open].map(({ agentId }) => agentId).toSorted(),
  };
}

type Hook = (agentId: string | null, view: TimelineView<Page, string>) => Timeline<string>;

const CLIENTS: [string, Hook, (transport: Transport, children: ReactNode) => ReactNode][] = [
  [
    "Apollo",
    useTimelineOfApollo,
    (transport, children) => {
      const client = new ApolloClient({ link: new ResumeLink(transport), cache: new InMemoryCache() });
      return createElement(ApolloProvider, { client, children });
    },
  ],
  [
    "urql",
    useTimelineOfUrql,
    (transport, children) => {
      const value = new Client({ url: "/graphql", preferGetMethod: false, exchanges: [resumeExchange(transport)] });
      return createElement(Provider, { value, children });
    },
  ],
];

describe.each(CLIENTS)("useTimeline of %s, in StrictMode", (_name, useTimeline, within) => {
  /** So many components that follow an agent: what each shows, every text that was shown of an agent, and how to choose another. */
  function shown(transport: Transport, count = 1) {
    const now: Timeline<string>[] = [];
    const everShown: string[] = [];
    const Follower: FunctionComponent<{ agentId: string | null; place: number }> = ({ agentId, place }) => {
      const timeline = useTimeline(agentId, LETTERS);
      now[place] = timeline;
      everShown.push(`${agentId ?? "nobody"}: ${timeline.view}`);
      return null;
    };
    const root = createRoot(document.createElement("div"));
    onTestFinished(() => root.unmount());
    let chosen: string | null = null;
    const Followers = ({ agentId }: { agentId: string | null }): ReactNode =>
      Array.from({ length: count }, (_, place) => createElement(Follower, { key: place, agentId, place }));
    const provided = (agentId: string | null): ReactNode => createElement(Followers, { agentId });
    const wrapper = within(transport, null);
    const render = (): void => {
      if (!isElement(wrapper)) throw new Error("a provider is an element");
      root.render(createElement(StrictMode, null, createElement(wrapper.type, { ...wrapper.props, children: provided(chosen) })));
    };
    return {
      now,
      everShown,
      follow(agentId: string | null): void {
        chosen = agentId;
        render();
      },
      leave: () => root.unmount(),
    };
  }

  it("shows every page once, the past and what comes, and lets go of the server when it is gone (invariants 1 and 2)", async () => {
    const server = fakeServer();
    server.say("a", "1");
    const { now, follow, leave } = shown(server.transport);
    follow("a");
    await expect.poll(() => now[0]?.view).toBe("1");
    server.say("a", "2");
    await expect.poll(() => now[0]?.view).toBe("12");
    expect(now[0]).toMatchObject({ status: { kind: "caught up", cursor: "2" }, error: null });
    expect(server.readers()).toEqual(["a"]);
    leave();
    await expect.poll(server.readers).toEqual([]);
  });

  it("never shows of one agent what another said, and follows nobody for null", async () => {
    const server = fakeServer();
    server.say("a", "1");
    server.say("b", "2");
    const { now, everShown, follow } = shown(server.transport);
    follow("a");
    await expect.poll(() => now[0]?.view).toBe("1");
    follow("b");
    await expect.poll(() => now[0]?.view).toBe("2");
    follow(null);
    await expect.poll(() => now[0]).toEqual({ view: "", status: null, error: null });
    expect(new Set(everShown)).toEqual(new Set(["a: ", "a: 1", "b: ", "b: 2", "nobody: "]));
    await expect.poll(server.readers).toEqual([]);
  });

  it("makes the view again from the beginning if the server does not go on from the cursor", async () => {
    const server = fakeServer();
    server.say("a", "1");
    server.say("a", "2");
    const { now, follow } = shown(server.transport);
    follow("a");
    await expect.poll(() => now[0]?.view).toBe("12");
    server.expire("a", ["8", "9"]);
    await expect.poll(() => now[0]?.view).toBe("89");
    expect(now[0]?.error).toBeNull();
    expect(server.readers()).toEqual(["a"]);
  });

  it("asks for an agent that is not found again, for a moment", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = fakeServer();
    server.say("a", "1");
    server.unknown.set("a", 3);
    server.unknown.set("b", 100);
    const { now, follow } = shown(server.transport);
    const settled = async (): Promise<void> => {
      for (let times = 0; times < 50; times += 1) await vi.advanceTimersByTimeAsync(100);
    };
    follow("a");
    await settled();
    expect(now[0]).toMatchObject({ view: "1", error: null, status: { kind: "caught up" } });
    follow("b");
    await settled();
    expect(now[0]).toMatchObject({ view: "", error: { message: expect.stringContaining("there is no agent") } });
    // In StrictMode the first of two subscriptions ends at once.
    expect(100 - (server.unknown.get("b") ?? 0)).toBeLessThanOrEqual(5);
  });

  it("says what its view's own code threw, keeps what it showed, and lets go of the server", async () => {
    const server = fakeServer();
    server.say("a", "1");
    const { now, follow } = shown(server.transport);
    follow("a");
    await expect.poll(() => now[0]?.view).toBe("1");
    server.say("a", "broken");
    await expect.poll(() => now[0]?.error?.message).toBe("the view broke");
    expect(now[0]?.view).toBe("1");
    await expect.poll(server.readers).toEqual([]);
  });

  it("gives two that follow one agent all pages each, and shows none again when the stream ends", async () => {
    const server = fakeServer();
    server.say("a", "1");
    const { now, follow } = shown(server.transport, 2);
    follow("a");
    await expect.poll(() => now.map(({ view }) => view)).toEqual(["1", "1"]);
    server.say("a", "2");
    await expect.poll(() => now.map(({ view }) => view)).toEqual(["12", "12"]);
    server.end("a");
    await expect.poll(() => now.map(({ status }) => status?.kind)).toEqual(["ended", "ended"]);
    expect(now).toMatchObject([
      { view: "12", error: null },
      { view: "12", error: null },
    ]);
  });
});

function isElement(node: ReactNode): node is React.ReactElement<object> {
  return typeof node === "object" && node !== null && "type" in node && "props" in node;
}
