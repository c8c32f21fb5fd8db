import { Trans } from "@lingui/react/macro";
import { createRootRoute, createRoute, createRouter, Link, redirect, type ErrorComponentProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { lazyScreen } from "../design/lazy-part.tsx";
import { InboxScreen } from "../inbox/inbox-screen.tsx";
import type { LookSearch } from "../audit/filters.ts";
import type { HistorySearch, InboxSearch } from "../inbox/queue.ts";
import { Frame } from "./frame.tsx";

const root = createRootRoute({ component: Frame, notFoundComponent: NoScreen, errorComponent: Broken });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/inbox", search: {}, replace: true });
  },
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  validateSearch: (given: Readonly<Record<string, unknown>>): InboxSearch => ({
    ...textIn(given, "template"),
    ...textIn(given, "tool"),
    ...textIn(given, "agent"),
    ...textIn(given, "requester"),
    ...textIn(given, "find"),
    ...(given["view"] === "snoozed" ? { view: "snoozed" } : {}),
  }),
  component: InboxScreen,
});

const approval = createRoute({ getParentRoute: () => inbox, path: "$approvalId" });

const history = createRoute({
  getParentRoute: () => root,
  path: "/history",
  validateSearch: (given: Readonly<Record<string, unknown>>): HistorySearch => ({
    ...textIn(given, "template"),
    ...textIn(given, "tool"),
    ...textIn(given, "agent"),
    ...textIn(given, "requester"),
  }),
  component: lazyScreen(async () => (await import("../inbox/history-screen.tsx")).HistoryScreen),
});

export type AgentSearch = {
  readonly state?: string;
  readonly template?: string;
  readonly title?: string;
  readonly archived?: string;
};

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: (given: Readonly<Record<string, unknown>>): AgentSearch => ({
    ...textIn(given, "state"),
    ...textIn(given, "template"),
    ...textIn(given, "title"),
    ...textIn(given, "archived"),
  }),
  component: lazyScreen(async () => (await import("../agents/agents-screen.tsx")).AgentsScreen),
});

/** A step opens the request that the model was sent at it. */
export type AgentPageSearch = { readonly view?: string; readonly step?: number };

const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agentId",
  validateSearch: (given: Readonly<Record<string, unknown>>): AgentPageSearch => ({
    ...textIn(given, "view"),
    ...stepIn(given),
  }),
  component: lazyScreen(async () => (await import("../agents/agent-screen.tsx")).AgentScreen),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: (given: Readonly<Record<string, unknown>>): LookSearch => ({
    ...textIn(given, "view"),
    ...textIn(given, "tool"),
    ...textIn(given, "state"),
    ...textIn(given, "verdict"),
    ...textIn(given, "error"),
    ...textIn(given, "template"),
    ...textIn(given, "model"),
    ...textIn(given, "agent"),
    ...textIn(given, "place"),
    ...textIn(given, "person"),
    ...textIn(given, "requester"),
    ...textIn(given, "price"),
    ...textIn(given, "from"),
    ...textIn(given, "to"),
    ...textIn(given, "order"),
    ...textIn(given, "bucket"),
    ...textIn(given, "call"),
    ...textIn(given, "step"),
    ...textIn(given, "what"),
  }),
  component: lazyScreen(async () => (await import("../audit/audit-screen.tsx")).AuditScreen),
});

const policy = createRoute({
  getParentRoute: () => root,
  path: "/policy",
  validateSearch: (
    given: Readonly<Record<string, unknown>>,
  ): { readonly view?: string; readonly template?: string; readonly call?: string } => ({
    ...textIn(given, "view"),
    ...textIn(given, "template"),
    ...textIn(given, "call"),
  }),
  component: lazyScreen(async () => (await import("../policy/policy-screen.tsx")).PolicyScreen),
});

const operations = createRoute({
  getParentRoute: () => root,
  path: "/operations",
  component: lazyScreen(async () => (await import("../operations/operations-screen.tsx")).OperationsScreen),
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: lazyScreen(async () => (await import("../account/account-screen.tsx")).AccountScreen),
});

/** The form of the gate is there for those who are not signed in; the others go on. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  beforeLoad: () => {
    throw redirect({ to: "/inbox", search: {}, replace: true });
  },
});

/** A filter of the address: a text that is not empty. The router reads digits as a number. */
function textIn<Name extends string>(given: Readonly<Record<string, unknown>>, name: Name): { readonly [Key in Name]?: string } {
  const value = given[name];
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  return text === "" ? {} : ({ [name]: text } as { readonly [Key in Name]: string });
}

function stepIn({ step }: Readonly<Record<string, unknown>>): { readonly step?: number } {
  return typeof step === "number" && Number.isInteger(step) && step >= 1 ? { step } : {};
}

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    inbox.addChildren([approval]),
    history,
    agents,
    agent,
    signIn,
    audit,
    account,
    policy,
    operations,
  ]),
  basepath: "/console",
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function NoScreen(): ReactNode {
  return (
    <main className="empty">
      <h1>
        <Trans>There is no such screen.</Trans>
      </h1>
      <p>
        <Link to="/inbox" search={{}}>
          <Trans>To the inbox</Trans>
        </Link>
      </p>
    </main>
  );
}

function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <main className="empty">
      <h1>
        <Trans>This screen has failed.</Trans>
      </h1>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <button type="button" onClick={reset}>
        <Trans>Try again</Trans>
      </button>
    </main>
  );
}
