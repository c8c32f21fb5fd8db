import { isObjectType } from "graphql";
import { expect, it } from "vitest";
import { schema } from "../../src/schema/index.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { tokenActor } from "../support/actors.ts";
import { ended } from "../support/exports.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { ConsoleBrowser } from "../support/console-browser.ts";
import { calls, callsWith, playedModel, says } from "../support/models.ts";
import { mutationOf, walksOf, type Values } from "../support/walk.ts";

/** The word that stands in everything that anna's agent has and does. */
const SECRET = "CANARY";

/** Who asks: those who may see anna's agent, and those who may not. Nobody has the last two tokens. */
const MAY_SEE = ["anna", "vera", "paul", "ada"] as const;
const MAY_NOT = ["ben", "zoe", "wrong", ""] as const;

const ACTORS = [
  tokenActor("anna", ["user"]),
  tokenActor("ben", ["user"]),
  tokenActor("vera", ["viewer"]),
  tokenActor("paul", ["approver"]),
  tokenActor("ada", ["admin"]),
  tokenActor("zoe", ["admin"], "other"),
].map(({ actor }) => actor);

/** An agent of anna's with one of everything: a turn, a question that is open, a rule, a delegation, a fork. */
async function everything() {
  const model = playedModel(
    () =>
      callsWith(
        ["todo_write", { todos: [{ id: "1", title: SECRET, status: "pending" }] }],
        ["fs_read", { path: `${SECRET}.txt` }],
      ),
    () => says(`I say ${SECRET}`),
    () => callsWith(["fs_write", { path: `${SECRET}.txt`, content: SECRET }]),
    () => calls(),
  );
  const app = await startTestApp({
    model,
    config: { actors: ACTORS, rateLimit: { pointsPerMinute: 1_000_000_000 } },
    template: { trace: true, exposeThinking: true, memory: {}, permission: { mode: "auto", ask: ["fs_write"] } },
  });
  const as = (who: string): TestClient => connect(app.url, who === "" ? undefined : `${who}-token`);
  const agent = await as("anna").createAgent({ title: SECRET });
  await as("anna").turn(agent.id, `Tell me ${SECRET}`);
  const messageId = await as("anna").send(agent.id, `Write ${SECRET}`);
  const [asked] = ofType(await as("anna").until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
  // It is said before the agent has stopped.
  await expect.poll(async () => (await as("anna").agent(agent.id)).state).toBe("PAUSED");
  const approvalId = asked?.request.approvalId ?? "";
  const rule = await as("paul").post<{ allowAlways: { allowRule: { id: string } } }>({
    query: `mutation { allowAlways(input: { approvalId: "${approvalId}", note: "${SECRET}" }) { allowRule { id } } }`,
  });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const delegation = await as("paul").post<{ delegateApprovals: { delegation: { id: string } } }>({
    query: `mutation { delegateApprovals(input: { toActorId: "vera", until: "${until}" }) { delegation { id } } }`,
  });
  const schedule = await as("anna").post<{ createSchedule: { schedule: { id: string } } }>({
    query: `mutation { createSchedule(input: { agentId: "${agent.id}", text: "${SECRET}", trigger: { everySteps: 100 } }) { schedule { id } } }`,
  });
  const token = await as("anna").post<{ createAccessToken: { accessToken: { id: string } } }>({
    query: `mutation { createAccessToken(input: { name: "${SECRET}" }) { accessToken { id } } }`,
  });
  const exported = await as("anna").post<{ createExport: { export: { id: string } } }>({
    query: `mutation { createExport(input: { what: TOOL_CALLS, format: NDJSON, filter: { tools: ["${SECRET}"] } }) { export { id } } }`,
  });
  const exportId = exported.data?.createExport.export.id ?? "";
  await ended(as("anna"), exportId);
  const session = await new ConsoleBrowser(app, { "user-agent": SECRET }).signIn("anna-token");
  const writes = async (text: string, version: number) =>
    as("anna").post<{ writeMemory: { entry: { id: string } } }>({
      query: `mutation { writeMemory(input: { templateId: "assistant", path: "/memories/a.md", text: "${text}", expectedVersion: ${version} }) { entry { id } } }`,
    });
  await writes(SECRET, 0);
  const written = await writes(`${SECRET} again`, 1);
  const ids = {
    agent: agent.id,
    entry: written.data?.writeMemory.entry.id ?? "",
    schedule: schedule.data?.createSchedule.schedule.id ?? "",
    approval: approvalId,
    message: messageId,
    call: globalId("ToolCall", asked?.request.call?.callId ?? ""),
    rule: rule.data?.allowAlways.allowRule.id ?? "",
    delegation: delegation.data?.delegateApprovals.delegation.id ?? "",
    token: token.data?.createAccessToken.accessToken.id ?? "",
    session: session.sessionId ?? "",
    export: exportId,
    actor: Buffer.from("ActorRef:USER:anna").toString("base64"),
  };
  const values: Values = {
    id: agent.id,
    ids: Object.values(ids),
    agentId: agent.id,
    agentIds: [agent.id],
    approvalId,
    messageId,
    callId: asked?.request.call?.callId ?? "",
    allowRuleId: ids.rule,
    delegationId: ids.delegation,
    accessTokenId: ids.token,
    sessionId: ids.session,
    exportId,
    scheduleId: ids.schedule,
    entryId: ids.entry,
    requesterId: "anna",
    path: "/memories/a.md",
    expectedVersion: 2,
    trigger: { everySteps: 5 },
    templateId: "assistant",
    toActorId: "ben",
    until,
    time: "2020-01-01T00:00:00Z",
    step: 1,
    first: 2,
    "timeline.first": 22,
    decision: "DENY",
    inputHash: asked?.request.inputHash ?? "",
    text: "mine",
    title: "mine",
    note: "mine",
    tool: "fs_write",
    input: { path: "a", content: "b" },
    permission: {},
  };
  return { app, as, ids, values };
}

/**
 * Each document of the walk over queries, with its root field. `node` is asked for each object, as the type that its id names;
 * `explainPermission` for both of what it takes.
 */
function documents({ ids, values }: Awaited<ReturnType<typeof everything>>) {
  const { callId, ...others } = values;
  return Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
    if (field.name === "explainPermission") return [{ callId }, others].flatMap((given) => walksOf(field, given, 4));
    if (field.name !== "node") return walksOf(field, values, field.name === "nodes" ? 2 : 4);
    return Object.values(ids).flatMap((id) => {
      const [type = ""] = Buffer.from(id, "base64").toString().split(":");
      const ofType = `query { node(id: "${id}") { __typename ... on ${type} {`;
      const walks = walksOf(field, { ...values, id }, 4).filter(({ text }) => text.startsWith(ofType));
      expect(walks, type).not.toEqual([]);
      return walks;
    });
  });
}

/** Ten at a time: more expensive reads of a tenant are refused. */
async function tenAtOnce<Item>(items: readonly Item[], each: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await each(item);
  };
  await Promise.all(Array.from({ length: 10 }, work));
}

async function eventsOf({ database }: TestApp): Promise<unknown> {
  const text =
    "SELECT count(*)::int AS n FROM event e LEFT JOIN agent a ON a.id = e.agent_id WHERE e.tenant = 'acme' AND (a.id IS NULL OR a.created_by = 'anna')";
  return database.sql.query({ name: "walk", text }, []);
}

it("the walk goes over every field of every type", async () => {
  const covered = new Set<string>();
  for (const { coordinates } of documents(await everything())) coordinates.forEach((coordinate) => covered.add(coordinate));
  const reachable = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .filter(({ name }) => !name.startsWith("__") && !/^(Mutation|Subscription|Query)$|Payload$|DecisionOutcome/.test(name))
    .flatMap((type) => Object.keys(type.getFields()).map((name) => `${type.name}.${name}`));
  expect(reachable.filter((coordinate) => !covered.has(coordinate))).toEqual([]);
});

it("every field shows those who may what they may see (invariant 12)", { timeout: 120_000 }, async () => {
  const office = await everything();
  const asked = documents(office);
  for (const who of MAY_SEE) {
    const seen = new Set<string>();
    await tenAtOnce(asked, async ({ field, text }) => {
      const { data, errors } = await office.as(who).post<object>({ query: text });
      if (JSON.stringify(data ?? null).includes(SECRET)) seen.add(field);
      const unexpected = errors.filter(({ extensions }) => extensions?.["code"] !== "FORBIDDEN");
      expect(unexpected, `${who}: ${text.slice(0, 200)}`).toEqual([]);
    });
    // The walk can see: what is in the answers of those who may is looked for in those of the others.
    const shown = ["agent", "agents", "approvals", "node", "nodes", "timeline", "toolCall", "toolCalls"];
    expect(
      shown.filter((field) => !seen.has(field)),
      who,
    ).toEqual([]);
  }
});

it("no field shows others anything, tenant by tenant (invariant 12)", { timeout: 120_000 }, async () => {
  const office = await everything();
  const { actor: _actor, ...ids } = office.ids;
  const texts = documents(office);
  for (const who of MAY_NOT) {
    const asked = texts.map(async ({ text }) => {
      const { data } = await office.as(who).post<object>({ query: text });
      const answer = JSON.stringify(data ?? null);
      for (const secret of [SECRET, ...Object.values(ids)])
        expect(answer.includes(secret), `${JSON.stringify(who)}, ${secret}: ${text.slice(0, 300)}`).toBe(false);
    });
    await Promise.all(asked);
  }
});

it("no subscription tells others of an agent, from the beginning of the log on (invariant 12)", async () => {
  const { as, values, app } = await everything();
  await app.services.log.head("acme");
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  expect(fields).toHaveLength(4);
  const pages = async (who: string, query: string): Promise<string> => {
    const { value } = await as(who)
      .iterate(query)
      .next()
      .catch((error: unknown) => ({ value: error }));
    return JSON.stringify(value);
  };
  for (const field of fields)
    for (const each of [values, {}]) {
      if (field.name === "progress" && !("agentId" in each)) continue;
      const args = Object.entries({ ...each, since: "0" }).filter(
        ([name]) => ["agentId", "agentIds", "since"].includes(name) && field.args.some((arg) => arg.name === name),
      );
      const query = `subscription { ${field.name}(${args.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ")}) { events { kind agent { id title } ... on MessageReceived { text } ... on PermissionRequired { request { reason call { inputPreview } } } } } }`;
      expect(await pages("anna", query), query).toContain(SECRET);
      for (const who of MAY_NOT) expect(await pages(who, query), `${who}: ${query}`).not.toContain(SECRET);
    }
});

it("no mutation lets others touch an agent, or what the tenant holds (invariant 12)", async () => {
  const office = await everything();
  let before = await eventsOf(office.app);
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const { actor: _actor, ...ids } = office.ids;
  for (const who of [...MAY_NOT, "vera"] as const)
    for (const field of mutations) {
      // What they make of their own is theirs.
      const isOwn = who === "zoe" && ["delegateApprovals", "writeMemory"].includes(field.name);
      if (["createAgent", "createAccessToken", "createExport"].includes(field.name) || isOwn) continue;
      const query = mutationOf(field, office.values, 3);
      const { data, errors } = await office.as(who).post<Record<string, { userErrors: { code: string }[] }>>({ query });
      // Nor does a payload hand out the object that they may not see.
      if (who !== "vera")
        for (const secret of [SECRET, ...Object.values(ids)])
          expect(JSON.stringify(data ?? null).includes(secret), `${who}: ${query}`).toBe(false);
      const refused = errors.length > 0 || (data?.[field.name]?.userErrors.length ?? 0) > 0;
      // vera decides in paul's name, once: that is what he delegated to her.
      const isDelegated = who === "vera" && /^(?:decide|snooze|wake)Approval/.test(field.name);
      const isListed = field.name === "decideApprovals";
      if (!isDelegated && !isListed) expect(refused, `${who}: ${query} ${JSON.stringify(data)}`).toBe(true);
      if (isDelegated) before = await eventsOf(office.app);
      else expect(await eventsOf(office.app), `${who}: ${query}`).toEqual(before);
    }
});

it("an approver steers no agent of others, and a user decides nothing, not even of their own agent (invariant 12)", async () => {
  const office = await everything();
  const before = await eventsOf(office.app);
  const mutations = new Map(Object.entries(schema.getMutationType()?.getFields() ?? {}));
  const steer = [
    "sendMessage",
    "withdrawMessage",
    "interruptAgent",
    "cancelToolCall",
    "completeToolCall",
    "retryTurn",
    "compactAgent",
    "remindAgent",
    "createSchedule",
    "pauseSchedule",
    "resumeSchedule",
    "deleteSchedule",
    "renameAgent",
    "archiveAgent",
    "unarchiveAgent",
    "deleteAgent",
    "forkAgent",
    "writeMemory",
    "deleteMemory",
    "eraseMemory",
    "revokeAccessToken",
    "endSession",
    "cancelExport",
  ];
  const decide = [
    "decideApproval",
    "snoozeApproval",
    "wakeApproval",
    "allowAlways",
    "revokeAllowRule",
    "delegateApprovals",
    "revokeDelegation",
    "acceptTool",
    "retryMcpServer",
    "setBudget",
    "revokeBudget",
  ];
  const others = ["createAgent", "createAccessToken", "createExport", "decideApprovals"];
  // Whoever adds a mutation says here whose it is.
  expect([...mutations.keys()].toSorted()).toEqual([...steer, ...decide, ...others].toSorted());
  for (const [who, names] of [
    ["paul", steer],
    ["anna", decide],
  ] as const)
    for (const name of names) {
      const field = mutations.get(name);
      if (field === undefined) throw new Error(`there is no ${name}`);
      const query = mutationOf(field, office.values, 2);
      const { data, errors } = await office.as(who).post<Record<string, { userErrors: { code: string }[] }>>({ query });
      const codes = [
        ...(data?.[name]?.userErrors ?? []).map(({ code }) => code),
        ...errors.map(({ extensions }) => extensions?.["code"]),
      ];
      expect(codes, `${who}: ${query}`).toEqual([
        // Who may not see a delegation, a token, a session or an export is told that there is none.
        ["revokeDelegation", "revokeAccessToken", "endSession", "cancelExport"].includes(name) ? "NOT_FOUND" : "FORBIDDEN",
      ]);
      expect(await eventsOf(office.app), `${who}: ${query}`).toEqual(before);
    }
});

it("`nodes` answers each object in the place of its id, and null in the places of others (invariant 12)", async () => {
  const { as, ids } = await everything();
  const own = await as("zoe").createAgent({ title: "zoe's" });
  const query = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Agent { title } } }";
  const asked = [ids.agent, own.id, ids.message, ids.actor, own.id];
  const { data } = await as("zoe").post<{ nodes: unknown[] }>({ query, variables: { ids: asked } });
  const mine = { id: own.id, title: "zoe's" };
  expect(data?.nodes).toEqual([null, mine, null, { id: ids.actor }, mine]);
});
