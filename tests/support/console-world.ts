import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "../../src/agent/models/script.ts";
import { scriptedModel } from "../../src/agent/models/scripted.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { CreateScheduleDocument } from "../generated/documents.ts";
import { tokenActor } from "./actors.ts";
import { auditOfRows } from "./audit.ts";
import type { TestApp } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { consolePage, type ConsolePage } from "./console-page.ts";
import { REACH } from "./hosts.ts";
import { FORM, asks, roundsServer } from "./mcp-asking.ts";

const README = "# Shop\n\nA small shop.\n\n## Begin\n\nRun `npm start`.\n";
const TEST = `import { price } from "./price.ts";\n\nit("rounds to cents", () => {\n  expect(price(1.005)).toBe(1.01);\n});\n`;
const REPORT = `The price is **rounded twice**, in \`price.ts\` and in [the basket](https://example.org/basket).

## Steps

1. Round once, in \`price.ts\`.
2. Run the tests.

| file | lines |
|---|---|
| src/price.ts | 12 |
| src/basket.ts | 40 |

\`\`\`ts
export const price = (cents: number): number => Math.round(cents) / 100;
\`\`\``;

const task = (description: string) => ({
  tool: "task_run",
  input: { description, prompt: description, agentTemplateId: "reviewer" },
});

const REPLIES: Script["replies"] = [
  {
    when: { user: "^The tests of the price fail" },
    say: ["I look at the price and its test."],
    call: [
      { tool: "fs_read", input: { path: "src/price.test.ts" } },
      {
        tool: "todo_write",
        input: {
          todos: [
            { id: "1", title: "Find the wrong rounding", status: "completed" },
            { id: "2", title: "Mend src/price.ts", status: "in_progress" },
            { id: "3", title: "Run the tests", status: "pending" },
          ],
        },
      },
      { tool: "fs_write", input: { path: "notes.md", content: "- rounded twice\n" } },
    ],
  },
  { when: { result: "fs_write" }, say: [REPORT] },
  {
    when: { user: "^Say it in the README" },
    call: [{ tool: "fs_read", input: { path: "README.md" } }],
  },
  {
    when: { result: "fs_read" },
    call: [
      {
        tool: "fs_edit",
        input: { path: "README.md", old_string: "Run `npm start`.", new_string: "Run `npm ci`, then `npm start`." },
      },
    ],
  },
  { when: { user: "^Release it" }, call: [{ tool: "bash_run", input: { command: "npm test && git push origin main --tags" } }] },
  { when: { user: "^Clean (?<folder>\\w+)" }, call: [{ tool: "bash_run", input: { command: "make clean-{{folder}}" } }] },
  { when: { user: "^Fetch" }, call: [{ tool: "reach", input: { hosts: "registry.npmjs.org:443" } }] },
  { when: { user: "^Book" }, call: [{ tool: "mcp__hotels__work", input: {} }] },
  { when: { user: "^Review" }, call: [task("review the basket"), task("review the price")] },
  {
    when: { user: "^review the (?<part>\\w+)" },
    call: [{ tool: "fs_write", input: { path: "review-{{part}}.md", content: "Fine.\n" } }],
  },
  { when: {}, say: ["Done."] },
];

const ASKING: TemplateConfig = { systemPrompt: "You mend a shop.", model: "test", selfApproval: true };
const TEMPLATES: Readonly<Record<string, TemplateConfig>> = {
  assistant: {
    ...ASKING,
    permission: {
      mode: "approval",
      allow: ["fs_read", "todo_write", "fs_write(path:notes.md)", "reach", "mcp__hotels__*"],
      deny: ["bash_run(command:rm *)"],
    },
  },
  lead: { ...ASKING, permission: { mode: "auto" }, subagents: { templates: ["reviewer"], depth: 2 } },
  reviewer: ASKING,
  thrifty: { ...ASKING, budgets: [{ per: "AGENT", tokens: 10, then: "ask" }] },
};

const PEOPLE = [tokenActor("ada", ["admin"]), tokenActor("anna", ["user"]), tokenActor("paul", ["approver"])];

/** A server with agents, questions of each kind, and people, and a page of it in which nobody has signed in. */
export type ConsoleWorld = ConsolePage & {
  readonly ada: TestClient;
  readonly agents: Readonly<Record<"mender" | "team", string>>;
};

export async function consoleWorld(): Promise<ConsoleWorld> {
  const hotels = await roundsServer(({ inputResponses }) =>
    inputResponses === undefined ? { inputRequests: { room: asks(FORM, "Which hotel in Lisbon?") } } : null,
  );
  const script: Script = { replies: REPLIES };
  const opened = await consolePage({
    script,
    model: { ...scriptedModel("test", script), price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
    config: {
      actors: PEOPLE.map(({ actor }) => actor),
      templates: TEMPLATES,
      tools: [REACH],
      mcpServers: { hotels: { url: hotels.url } },
    },
  });
  const { app } = opened;
  await mkdir(join(app.workspace, "src"));
  await Promise.all([
    writeFile(join(app.workspace, "README.md"), README),
    writeFile(join(app.workspace, "src/price.test.ts"), TEST),
  ]);
  const ada = connect(app.url, "ada-token");
  const anna = connect(app.url, "anna-token");
  const mender = await agentOf(ada, "assistant", "Price", "The tests of the price fail. Find out why.");
  await ada.turn(mender, "Thank you.");
  const start = { everyMs: 24 * 3_600_000 };
  await ada.get(CreateScheduleDocument, { input: { agentId: mender, text: "Look at the open issues.", trigger: start } });
  const { id: denied } = await anna.createAgent({ title: "Cleaner" });
  await askedBy(anna, denied, "Clean cache");
  await decideAll(ada, "DENY");
  const { id: shop } = await anna.createAgent({ title: "README" });
  await askedBy(anna, shop, "Say it in the README.");
  await decideAll(ada, "ALLOW");
  await anna.until(shop, "DONE");

  const { id: release } = await anna.createAgent({ title: "Release 2.1" });
  await askedBy(anna, release, "Release it.");
  const { id: readme } = await ada.createAgent({ title: "Docs" });
  await writeFile(join(app.workspace, "README.md"), README);
  await askedBy(ada, readme, "Say it in the README.");
  for (const folder of ["build", "cache", "dist"]) {
    const { id } = await anna.createAgent({ title: `Clean ${folder}` });
    await askedBy(anna, id, `Clean ${folder}`);
  }
  const { id: fetcher } = await anna.createAgent({ title: "Fetcher" });
  await anna.send(fetcher, "Fetch the list of versions.");
  const { id: hotel } = await ada.createAgent({ title: "Lisbon" });
  await askedBy(ada, hotel, "Book a room.");
  const { id: thrifty } = await ada.createAgent({ title: "Thrifty", templateId: "thrifty" });
  await askedBy(ada, thrifty, "Hello.");
  const { id: team } = await ada.createAgent({ title: "Team", templateId: "lead" });
  await ada.send(team, "Review the shop.");
  await unknownOutcome(app);
  await auditOfRows(app.database.sql);
  return { ...opened, ada, agents: { mender, team } };
}

async function agentOf(client: TestClient, templateId: string, title: string, text: string): Promise<string> {
  const { id } = await client.createAgent({ templateId, title });
  await client.turn(id, text);
  return id;
}

/** Sends a message, and waits until the agent asks a person. */
async function askedBy(client: TestClient, agentId: string, text: string): Promise<void> {
  await client.send(agentId, text);
  await client.until(agentId, "PERMISSION_REQUIRED");
}

async function decideAll(client: TestClient, decision: "ALLOW" | "DENY"): Promise<void> {
  const { data } = await client.post<{ approvals: { nodes: { id: string; inputHash: string | null }[] } }>({
    query: "{ approvals(filter: { states: [PENDING] }, first: 50) { nodes { id inputHash } } }",
  });
  for (const { id, inputHash } of data?.approvals.nodes ?? [])
    await client.decide({ approvalId: id, decision, inputHash, ...(decision === "DENY" ? { note: "Keep the cache." } : {}) });
}

/** A question about a call whose server died: the row alone, since no server of a test dies. */
async function unknownOutcome({ database }: TestApp): Promise<void> {
  const text = `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, input, input_hash, reason, risk, risk_rank, requested_at)
    SELECT gen_random_uuid(), tenant, agent_id, id, 'OUTCOME_UNKNOWN', 'PENDING', effective_input, input_hash, 'the server died while it ran', 'HIGH', 2, now()
    FROM tool_call WHERE name = 'fs_edit' AND state = 'COMPLETED' LIMIT 1`;
  await database.sql.query({ name: "", text }, []);
}
