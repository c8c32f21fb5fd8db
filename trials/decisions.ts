import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "./postgres.ts";
import { ask, start } from "./processes.ts";
import { trialInFolder, type TrialRun } from "./trial.ts";

/**
 * `npm run trial:decisions`: 200 approvals (20 with --short), each decided by 50 at the same moment, half with ALLOW and
 * half with DENY, over four servers on one PostgreSQL. Every approval has one winner, everybody is told the same, each
 * allowed call runs once and no denied one does. With --planted the servers are asked as if each decided alone, which
 * must fail.
 */
const DECIDERS = 50;
const SERVERS = 4;

type Approval = { readonly id: string; readonly inputHash: string };
type Decided = {
  readonly decideApproval: {
    readonly approval: { readonly state: string };
    readonly userErrors: readonly { readonly code: string }[];
  };
};

await trialInFolder("decisions", async ({ isShort, isPlanted, fail }, folder) => {
  const postgres = await startPostgres();
  const config = fileURLToPath(new URL("decisions.config.ts", import.meta.url));
  const env = { DATABASE_URL: postgres.url, TRIPLANE_CONFIG: config, PORT: "0" };
  const servers: string[] = [];
  for (let index = 0; index < SERVERS; index += 1)
    servers.push(await startServer({ ...env, TRIPLANE_DATA_DIR: join(folder, String(index)) }));
  const [first = ""] = servers;
  const approvals = await askForApprovals(first, isShort ? 2 : 20);
  const counts: Record<string, number> = {};
  for (const approval of approvals) await race(approval, servers, counts, isPlanted, fail);
  await checkCalls(first, approvals.length, fail);
  return `${approvals.length} approvals, ${DECIDERS} decisions each by ${SERVERS} servers: ${JSON.stringify(counts)}`;
});

/** Starts the server itself, and gives its URL. */
async function startServer(env: Readonly<Record<string, string>>): Promise<string> {
  return (await start("src/main.ts", /http:\/\/127\.0\.0\.1:\d+\/graphql/, env)).said;
}

/** Lets agents ask, and gives what is open once all of them wait. */
async function askForApprovals(url: string, count: number): Promise<readonly Approval[]> {
  const agents: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { createAgent } = await ask<{ createAgent: { agent: { id: string } } }>(
      url,
      `mutation { createAgent(input: { templateId: "asks" }) { agent { id } } }`,
    );
    agents.push(createAgent.agent.id);
    await ask(url, `mutation($id: ID!) { sendMessage(input: { agentId: $id, text: "ask" }) { cursor } }`, {
      id: createAgent.agent.id,
    });
  }
  const open: Approval[] = [];
  for (const id of agents) {
    for (;;) {
      const { agent } = await ask<{ agent: { state: string; pendingApprovals: readonly Approval[] } }>(
        url,
        `query($id: ID!) { agent(id: $id) { state pendingApprovals { id inputHash } } }`,
        { id },
      );
      if (agent.state !== "PAUSED") continue;
      open.push(...agent.pendingApprovals);
      break;
    }
  }
  return open;
}

/** Fifty decide at once. One decision stands, and everybody's answer agrees with it. */
async function race(
  { id, inputHash }: Approval,
  servers: readonly string[],
  counts: Record<string, number>,
  isPlanted: boolean,
  fail: TrialRun["fail"],
): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: DECIDERS }, async (_, index) => {
      const decision = index % 2 === 0 ? "ALLOW" : "DENY";
      const { decideApproval } = await ask<Decided>(
        servers[index % servers.length] ?? "",
        `mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { approval { state } userErrors { code } } }`,
        { input: { approvalId: id, decision, inputHash, note: String(index) } },
      );
      return { decision, state: decideApproval.approval.state, code: decideApproval.userErrors[0]?.code ?? "ACCEPTED" };
    }),
  );
  const states = new Set(answers.map(({ state }) => state));
  if (states.size !== 1) fail(`${id} was told as ${[...states].join(" and ")}`);
  const [state = ""] = states;
  for (const { decision, code } of answers) {
    const isWinner = (state === "ALLOWED") === (decision === "ALLOW");
    counts[code] = (counts[code] ?? 0) + 1;
    if (code !== (isWinner !== isPlanted ? "ACCEPTED" : "ALREADY_DECIDED"))
      fail(`${id} is ${state}, and ${decision} was ${code}`);
  }
}

/** Every approval has one decision in the record, every allowed call ran once, and no other did. */
async function checkCalls(url: string, expected: number, fail: TrialRun["fail"]): Promise<void> {
  for (;;) {
    const { agents } = await ask<{ agents: { nodes: readonly { state: string }[] } }>(
      url,
      "{ agents(first: 100) { nodes { state } } }",
    );
    if (agents.nodes.every(({ state }) => state === "READY")) break;
  }
  let seen = 0;
  for (let after: string | null = null; ;) {
    type Page = {
      toolCalls: {
        nodes: readonly {
          state: string;
          attempt: number;
          approvals: readonly { state: string; decisions: readonly unknown[] }[];
        }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    };
    const { toolCalls }: Page = await ask<Page>(
      url,
      `query($after: String) { toolCalls(first: 100, after: $after) { nodes { state attempt approvals { state decisions { note } } } pageInfo { hasNextPage endCursor } } }`,
      { after },
    );
    for (const { state, attempt, approvals } of toolCalls.nodes) {
      seen += 1;
      const [approval] = approvals;
      const isRight =
        approval?.state === "ALLOWED" ? state === "COMPLETED" && attempt === 1 : state === "DENIED" && attempt === 0;
      if (approvals.length !== 1 || approval?.decisions.length !== 1 || !isRight)
        fail(`a call is ${state} after ${attempt} attempts, with ${JSON.stringify(approvals)}`);
    }
    if (!toolCalls.pageInfo.hasNextPage) break;
    after = toolCalls.pageInfo.endCursor;
  }
  if (seen !== expected) fail(`${seen} calls are in the record, not ${expected}`);
}
