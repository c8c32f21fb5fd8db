import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { buildSchema, introspectionFromSchema, OperationTypeNode, parse } from "graphql";
import { readFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { possibleTypes, ResumeLink, typePolicies } from "../../clients/src/apollo.ts";
import { keys, resumeExchange } from "../../clients/src/urql.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { ask, office } from "../support/office.ts";

const SCHEMA = introspectionFromSchema(buildSchema(await readFile("schema.graphql", "utf8")));

type Variables = Readonly<Record<string, unknown>>;
type Data = Readonly<Record<string, unknown>>;

/** A client as a frontend has it: what it asks, and the first page of a subscription. */
type Frontend = {
  readonly ask: (document: string, variables?: Variables) => Promise<Data>;
  readonly firstPage: (document: string, variables?: Variables) => Promise<Data>;
};

function transportOf(url: string, token: string) {
  const connectionParams = { authorization: `Bearer ${token}` };
  const transport = overWebSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams });
  onTestFinished(() => transport.dispose());
  return transport;
}

function apollo(url: string, token: string): Frontend {
  const rest = new HttpLink({ uri: url, headers: { authorization: `Bearer ${token}` } });
  const client = new ApolloClient({
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new ResumeLink(transportOf(url, token)),
      rest,
    ),
  });
  return {
    ask: async (document, variables = {}) => {
      const isMutation = document.startsWith("mutation");
      const { data } = isMutation
        ? await client.mutate<Data>({ mutation: parse(document), variables })
        : await client.query<Data>({ query: parse(document), variables, fetchPolicy: "network-only" });
      return data ?? {};
    },
    firstPage: (document, variables = {}) =>
      new Promise((resolve, reject) => {
        const subscription = client
          .subscribe<Data>({ query: parse(document), variables, fetchPolicy: "no-cache" })
          .subscribe(({ data, error }) => {
            queueMicrotask(() => subscription.unsubscribe());
            if (data) resolve(data);
            else reject(error ?? new Error("no page came"));
          });
      }),
  };
}

function urql(url: string, token: string): Frontend {
  const client = new Client({
    url,
    preferGetMethod: false,
    requestPolicy: "network-only",
    fetchOptions: { headers: { authorization: `Bearer ${token}` } },
    exchanges: [cacheExchange({ schema: SCHEMA, keys }), fetchExchange, resumeExchange(transportOf(url, token))],
  });
  return {
    ask: async (document, variables = {}) => {
      const isMutation = document.startsWith("mutation");
      const { data, error } = await (isMutation
        ? client.mutation<Data>(document, variables)
        : client.query<Data>(document, variables));
      if (error !== undefined) throw error;
      return data ?? {};
    },
    firstPage: (document, variables = {}) =>
      new Promise((resolve, reject) => {
        const { unsubscribe } = client.subscription<Data>(document, variables).subscribe(({ data, error }) => {
          queueMicrotask(() => unsubscribe());
          if (data) resolve(data);
          else reject(error ?? new Error("no page came"));
        });
      }),
  };
}

/*
 * What frontends of such a system ask for. An inbox asks each approval whether the viewer may decide (`viewerCanDecide`) in the
 * place of a filter; a proposal is asked for where it is shown; servers have no names.
 */
const CHATS = `query Chats($me: ID!) {
  agents(first: 30, filter: { createdBy: [$me], isArchived: false }, orderBy: { field: LAST_ACTIVITY_AT, direction: DESC }) {
    totalCount asOf
    nodes { id title lastActivityAt state waitingFor messages(last: 1) { nodes { id text } } pendingApprovals { id } } } }`;
const NEW = `query New { viewer { actor { id name } roles } templates { id templateId model { name } } }`;
const OPEN = `query Open($id: ID!) { agent(id: $id) { id cursor
  openBlocks { step block isThinking text }
  messages(last: 50) { nodes { id kind step sentBy { id }
    blocks { __typename ... on TextBlock { text } ... on ToolCallBlock { toolCall { id name state } } } } } } }`;
const INBOX = `query Inbox { viewer { roles delegators { id } }
  approvals(first: 20, filter: { states: [PENDING], risks: [MEDIUM, HIGH], kinds: [TOOL_CALL] }) {
    totalCount
    nodes { id inputText inputHash reason risk quorum missingDecisions paths { names } decisions { decision } expiresAt
      requestedBy { id } viewerCanDecide viewerCannotDecideReasons
      toolCall { id tool { name inputSchema description } explanation { rule place considered { rule } } } } } }`;
const PROPOSAL = `query Proposal($id: ID!) { allowRuleProposal(approvalId: $id) { proposal { rule past { matched denied } } problems { message } } }`;
const HISTORY = `query History($by: ID!) { approvals(filter: { states: [ALLOWED, DENIED], decidedBy: [$by], decided: { from: "2020-01-01T00:00:00Z" } }, last: 50) {
  nodes { id state decidedBy { id } decidedAt } } }`;
const OPS = `query Ops { agents(filter: { states: [PAUSED], idleSince: "2100-01-01T00:00:00Z" }) { nodes { id waitingFor } }
  timeline(kinds: [ERROR, STORAGE_FAILURE], last: 50) { startCursor cursor events { __typename cursor } } }`;
const SINCE = `query Since { cursorAt(time: "2020-01-01T00:00:00Z") }`;
const AUDIT = `query Audit($by: ID!, $me: ID!) { toolCalls(first: 50, orderBy: { field: DURATION, direction: DESC }, filter: {
    created: { from: "2020-01-01T00:00:00Z" }, tools: ["fs_write"], templateIds: ["assistant"], createdBy: [$me], verdicts: [ASK], decidedBy: [$by], minDurationMs: 0 }) {
  totalCount
  nodes { id callId name state durationMs verdict agent { id template { id } createdBy { id } } approvals { id risk decidedBy { id } } } } }`;
const FAILED = `query Failed { toolCalls(filter: { errorTypes: [ABORTED] }) { nodes { id callId error { type } } } }`;
const BY_CALL_ID = `query ByCallId($callId: ID!) { toolCall(callId: $callId) { id callId } }`;

it.each([
  ["Apollo Client", apollo],
  ["urql with Graphcache", urql],
])("a chat, an inbox, an operator's page and an audit table ask what they need, with %s", async (_name, frontend) => {
  const { app, as } = await office({ approvalQuorum: 2 });
  const { agent, approvalId, inputHash } = await ask(as("anna"));
  const [anna, paul, petra, vera] = ["anna", "paul", "petra", "vera"].map((who) => frontend(app.url, `${who}-token`));
  if (anna === undefined || paul === undefined || petra === undefined || vera === undefined) throw new Error("nobody is there");

  // A chat.
  const begun = await anna.ask(NEW);
  expect(begun).toMatchObject({ viewer: { roles: ["USER"] }, templates: [{ templateId: "assistant", model: { name: "test" } }] });
  const me = (begun as { viewer: { actor: { id: string } } }).viewer.actor.id;
  expect(await anna.ask(CHATS, { me })).toMatchObject({
    agents: {
      totalCount: 1,
      nodes: [{ id: agent, state: "PAUSED", waitingFor: expect.any(String), pendingApprovals: [{ id: approvalId }] }],
    },
  });
  const rename = `mutation Rename($id: ID!) { renameAgent(input: { agentId: $id, title: "Papers" }) { agent { id title } userErrors { code } } }`;
  expect(await anna.ask(rename, { id: agent })).toMatchObject({ renameAgent: { agent: { title: "Papers" } } });
  expect(await anna.ask(OPEN, { id: agent })).toMatchObject({
    agent: { openBlocks: [], messages: { nodes: [{ kind: "USER", sentBy: { id: me } }, { blocks: expect.anything() }] } },
  });
  expect(
    await anna.firstPage(
      "subscription Follow($ids: [ID!]!, $since: Cursor) { timeline(agentIds: $ids, since: $since) { cursor caughtUp events { __typename cursor } } }",
      { ids: [agent], since: "0" },
    ),
  ).toMatchObject({
    timeline: { events: expect.arrayContaining([expect.objectContaining({ __typename: "PermissionRequired" })]) },
  });

  // An inbox.
  expect(await paul.ask(INBOX)).toMatchObject({
    approvals: {
      totalCount: 1,
      nodes: [
        {
          id: approvalId,
          missingDecisions: 2,
          requestedBy: [{ id: me }],
          viewerCanDecide: true,
          viewerCannotDecideReasons: [],
          toolCall: { tool: { name: "fs_write", inputSchema: { type: "object" } }, explanation: { rule: expect.any(String) } },
        },
      ],
    },
  });
  expect(await anna.ask(INBOX)).toMatchObject({ approvals: { nodes: [{ viewerCanDecide: false }] } });
  expect(await paul.ask(PROPOSAL, { id: approvalId })).toMatchObject({
    allowRuleProposal: { proposal: { past: { matched: expect.any(Number) } } },
  });
  expect(
    await paul.firstPage(
      "subscription Inbox($since: Cursor) { control(since: $since) { cursor caughtUp events { __typename ... on PermissionRequired { request { approvalId } } } } }",
    ),
  ).toMatchObject({
    control: { events: [{ __typename: "PermissionRequired", request: { approvalId: expect.any(String) } }] },
  });
  const decide = `mutation Decide($input: DecideApprovalsInput!) { decideApprovals(input: $input) { outcomes { approval { id state missingDecisions } userErrors { code } } userErrors { code } } }`;
  const input = { decisions: [{ approvalId, inputHash, decision: "ALLOW" }] };
  expect(await paul.ask(decide, { input })).toMatchObject({
    decideApprovals: { outcomes: [{ approval: { state: "PENDING", missingDecisions: 1 } }] },
  });
  expect(await petra.ask(decide, { input })).toMatchObject({
    decideApprovals: { outcomes: [{ approval: { state: "ALLOWED", missingDecisions: 0 } }] },
  });
  await as("anna").until(agent, "DONE");
  const by = ((await petra.ask(NEW)) as { viewer: { actor: { id: string } } }).viewer.actor.id;
  expect(await vera.ask(HISTORY, { by })).toMatchObject({ approvals: { nodes: [{ id: approvalId, state: "ALLOWED" }] } });

  // An operator's page.
  expect(await vera.ask(OPS)).toMatchObject({ agents: { nodes: [] }, timeline: { events: [] } });
  const { cursorAt } = await vera.ask(SINCE);
  expect(
    await vera.firstPage(
      "subscription Watch($since: Cursor) { monitor(since: $since, kinds: [STATE_CHANGED]) { cursor caughtUp events { __typename } } }",
      { since: cursorAt },
    ),
  ).toMatchObject({ monitor: { events: expect.arrayContaining([{ __typename: "StateChanged" }]) } });

  // An audit table.
  const audit = (await vera.ask(AUDIT, { by, me })) as { toolCalls: { nodes: { callId: string }[] } };
  expect(audit).toMatchObject({
    toolCalls: {
      totalCount: 1,
      nodes: [{ name: "fs_write", state: "COMPLETED", verdict: "ASK", agent: { id: agent, createdBy: { id: me } } }],
    },
  });
  const [call] = audit.toolCalls.nodes;
  expect(await vera.ask(BY_CALL_ID, { callId: call?.callId })).toMatchObject({ toolCall: { callId: call?.callId } });

  // A message is taken back while it waits, a call is cancelled, and a turn that was interrupted is done again.
  const again = await ask(as("anna"), "write b.txt", agent);
  const sendInput = { agentId: agent, text: "never mind" };
  const send = `mutation Send($input: SendMessageInput!) { sendMessage(input: $input) { message { id } userErrors { code } } }`;
  const { sendMessage } = (await anna.ask(send, { input: sendInput })) as { sendMessage: { message: { id: string } } };
  const withdraw = `mutation Withdraw($id: ID!) { withdrawMessage(input: { messageId: $id }) { message { id withdrawnAt } userErrors { code } } }`;
  expect(await anna.ask(withdraw, { id: sendMessage.message.id })).toMatchObject({
    withdrawMessage: { message: { withdrawnAt: expect.any(String) }, userErrors: [] },
  });
  const cancel = `mutation Cancel($id: ID!) { cancelToolCall(input: { callId: $id }) { toolCall { id callId } userErrors { code } } }`;
  const cancelled = again.request.call?.callId;
  expect(await anna.ask(cancel, { id: cancelled })).toMatchObject({
    cancelToolCall: { toolCall: { callId: cancelled }, userErrors: [] },
  });
  await as("anna").until(agent, "DONE", again.cursorBefore);
  expect(await vera.ask(FAILED)).toMatchObject({ toolCalls: { nodes: [{ callId: cancelled, error: { type: "ABORTED" } }] } });
  const third = await ask(as("anna"), "write c.txt", agent);
  const interrupt = `mutation Interrupt($id: ID!) { interruptAgent(input: { agentId: $id }) { agent { id } userErrors { code } } }`;
  expect(await anna.ask(interrupt, { id: agent })).toMatchObject({ interruptAgent: { userErrors: [] } });
  await as("anna").until(agent, "DONE", third.cursorBefore);
  const retry = `mutation Retry($id: ID!) { retryTurn(input: { agentId: $id }) { agent { id } userErrors { code } } }`;
  expect(await anna.ask(retry, { id: agent })).toMatchObject({ retryTurn: { agent: { id: agent }, userErrors: [] } });

  for (const mutation of ["archiveAgent", "unarchiveAgent"])
    expect(
      await anna.ask(
        `mutation Archive($id: ID!) { ${mutation}(input: { agentId: $id }) { agent { id archivedAt } userErrors { code } } }`,
        { id: agent },
      ),
    ).toMatchObject({ [mutation]: { userErrors: [] } });
});
