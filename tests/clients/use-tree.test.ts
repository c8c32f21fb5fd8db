// @vitest-environment happy-dom
import { ApolloClient, InMemoryCache } from "@apollo/client";
import { ApolloProvider } from "@apollo/client/react";
import { createElement, StrictMode, useState, type FunctionComponent, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Client, Provider } from "urql";
import { describe, expect, it, onTestFinished } from "vitest";
import { useTimeline as useTimelineOfApollo, useTree as useTreeOfApollo } from "../../clients/src/apollo-react.ts";
import { ResumeLink } from "../../clients/src/apollo.ts";
import type { Result, Sink, Transport } from "../../clients/src/index.ts";
import { EMPTY_TREE, type Tree } from "../../clients/src/tree.ts";
import { useTimeline as useTimelineOfUrql, useTree as useTreeOfUrql } from "../../clients/src/urql-react.ts";
import { resumeExchange } from "../../clients/src/urql.ts";

type Event = Readonly<Record<string, unknown>>;

/** A server with a log for each agent that is there. */
function fakeServer() {
  const logs = new Map<string, Event[]>();
  const open = new Set<{ readonly agentId: string; readonly sink: Sink<Result<unknown>> }>();
  const page = (events: readonly Event[], cursor: number): Result<unknown> => ({
    data: { timeline: { cursor: String(cursor), caughtUp: true, outage: null, events } },
  });
  const transport: Transport = {
    subscribe({ variables }, sink) {
      const agentId = String(variables?.["agentId"]);
      const reader = { agentId, sink };
      open.add(reader);
      queueMicrotask(() => {
        const log = logs.get(agentId);
        if (!open.has(reader)) return;
        if (log !== undefined) return sink.next(page(log.slice(Number(variables?.["since"])), log.length));
        open.delete(reader);
        sink.next({ errors: [{ message: "there is no such agent", extensions: { code: "NOT_FOUND" } }] });
        sink.complete();
      });
      return () => open.delete(reader);
    },
    dispose: () => {},
  };
  return {
    transport,
    say(agentId: string, ...events: readonly Event[]): void {
      const log = logs.get(agentId) ?? [];
      logs.set(agentId, [...log, ...events]);
      for (const reader of open) if (reader.agentId === agentId) reader.sink.next(page(events, log.length + events.length));
    },
    readers: () => [...open].map(({ agentId }) => agentId).toSorted(),
  };
}

const started = (childId: string): Event => ({
  __typename: "AgentSpawned",
  cursor: childId,
  callId: `call of ${childId}`,
  childId,
  templateId: "worker",
  description: childId,
  isBackground: false,
});
const returned = (childId: string): Event => ({
  __typename: "AgentReturned",
  cursor: `${childId}.`,
  callId: `call of ${childId}`,
  childId,
  outcome: "OK",
  answer: "",
});
const asks = (approvalId: string): Event => ({
  __typename: "PermissionRequired",
  cursor: approvalId,
  request: {
    approvalId,
    kind: "TOOL_CALL",
    inputHash: "h",
    reason: "r",
    risk: "LOW",
    host: null,
    port: null,
    call: { name: "t" },
  },
  approval: { inputText: "{}" },
});
const decided = (approvalId: string): Event => ({
  __typename: "PermissionDecided",
  cursor: `${approvalId}.`,
  approvalId,
  decision: "ALLOW",
  decidedBy: { actorId: "a", name: null },
  missingDecisions: 0,
});

type Hook = (agentId: string | null) => Tree;

const CLIENTS: [string, Hook, (transport: Transport, children: ReactNode) => ReactNode][] = [
  [
    "Apollo",
    (agentId) => useTreeOfApollo(useTimelineOfApollo(agentId).view),
    (transport, children) => {
      const client = new ApolloClient({ link: new ResumeLink(transport), cache: new InMemoryCache() });
      return createElement(ApolloProvider, { client, children });
    },
  ],
  [
    "urql",
    (agentId) => useTreeOfUrql(useTimelineOfUrql(agentId).view),
    (transport, children) => {
      const value = new Client({ url: "/graphql", preferGetMethod: false, exchanges: [resumeExchange(transport)] });
      return createElement(Provider, { value, children });
    },
  ],
];

describe.each(CLIENTS)("useTree of %s, in StrictMode", (_name, useTree, within) => {
  function shown(transport: Transport) {
    let tree: Tree = EMPTY_TREE;
    let open = (_agentId: string): void => {};
    const Page: FunctionComponent = () => {
      const [agentId, setAgentId] = useState("lead");
      open = setAgentId;
      tree = useTree(agentId);
      return null;
    };
    const root = createRoot(document.createElement("div"));
    onTestFinished(() => root.unmount());
    root.render(createElement(StrictMode, null, within(transport, createElement(Page))));
    return {
      open: (agentId: string): void => open(agentId),
      paths: () => tree.approvals.map(({ path }) => path.map(({ description }) => description).join(" ")),
      error: () => tree.error?.message ?? null,
      leave: () => root.unmount(),
    };
  }

  it("follows each child at work, and those below it, until it returns", async () => {
    const server = fakeServer();
    server.say("lead", started("a"), started("b"));
    server.say("a", asks("of a"));
    server.say("b", started("c"));
    server.say("c", asks("of c"));
    const page = shown(server.transport);
    await expect.poll(page.paths).toEqual(["a", "b c"]);
    expect(server.readers()).toEqual(["a", "b", "c", "lead"]);
    page.open("b");
    await expect.poll(page.paths).toEqual(["c"]);
    expect(server.readers()).toEqual(["b", "c"]);
    page.open("lead");
    await expect.poll(page.paths).toEqual(["a", "b c"]);
    server.say("a", decided("of a"));
    await expect.poll(page.paths).toEqual(["b c"]);
    server.say("lead", returned("b"));
    await expect.poll(page.paths).toEqual([]);
    expect(server.readers()).toEqual(["a", "lead"]);
    page.leave();
    await expect.poll(server.readers).toEqual([]);
  });

  it("follows a child that is not there yet, and says so if it does not come", async () => {
    const server = fakeServer();
    server.say("lead", started("a"), started("lost"));
    const page = shown(server.transport);
    await expect.poll(server.readers).toEqual(["lead"]);
    server.say("a", asks("of a"));
    await expect.poll(page.paths).toEqual(["a"]);
    await expect.poll(page.error, { timeout: 10_000 }).toContain("there is no such agent");
    server.say("lost");
    await expect.poll(page.error, { timeout: 10_000 }).toBe(null);
  });
});
