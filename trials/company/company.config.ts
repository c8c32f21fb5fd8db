import { defineConfig, defineTool, later, type Around, type Tool } from "triplane";
import {
  EXPIRES_S,
  expiring,
  isOfMcp,
  JOB,
  LEAD,
  MCP_TOOLS,
  roundsOf,
  TEMPLATE,
  treeOf,
  type Job,
  type PlannedCall,
  type PlannedChild,
  type PlannedTool,
  type Size,
} from "./plan.ts";
import { passPoint } from "./points.ts";

const { TRIAL_SEED = "1", TRIAL_SIZE = "", TRIAL_QUEUE = "" } = process.env;
const rounds = roundsOf(Number(TRIAL_SEED), JSON.parse(TRIAL_SIZE) as Size);

const FORM = {
  inputSchema: JOB,
  outputSchema: { type: "object", required: ["value"], properties: { value: { type: "string" } } },
} as const;

/** A tool that orders from the queue, which gives the result. Servers that take over a call order again, if they may. */
function ordering(name: PlannedTool, mayRepeat: boolean): Tool {
  return defineTool<Job>({
    ...FORM,
    name,
    description: "Orders from the queue.",
    readOnly: mayRepeat,
    idempotent: mayRepeat,
    run: async (job, { callId, completionToken, signal }) => {
      passPoint("before the order leaves");
      const body = JSON.stringify({ ...job, callId, token: completionToken() });
      const response = await fetch(TRIAL_QUEUE, { method: "POST", body, signal });
      if (!response.ok) throw new Error(`the queue answered ${response.status}`);
      passPoint("between the order and WAITING");
      return later(job.dueMs === 0 ? {} : { dueMs: job.dueMs });
    },
  });
}

/** A tool that waits for its time to be up, or for an approval. */
function waiting(name: PlannedTool): Tool {
  return defineTool<Job>({
    ...FORM,
    name,
    description: "Waits.",
    readOnly: true,
    idempotent: true,
    run: ({ dueMs }) => later(dueMs === 0 ? {} : { dueMs }),
  });
}

const callOf = ({ tool, job, way, delayMs, dueMs }: PlannedCall) => ({
  tool: isOfMcp(tool) ? `mcp__${MCP_TOOLS[tool]}__${tool}` : tool,
  input: { job, way, delayMs, dueMs },
});
const startOf = ({ text, template: agentTemplateId, isBackground: background }: PlannedChild) => ({
  tool: "task_run",
  input: { description: text, prompt: text, agentTemplateId, background },
});
const replies = rounds
  .flatMap(({ agents, further }) => agents.concat(...Object.values(further)).flatMap(treeOf))
  .filter(({ calls, children }) => calls.length + children.length > 0)
  .map(({ text, calls, children }) => ({
    when: { user: `^${text}$` },
    call: [...children.map(startOf), ...calls.map(callOf)],
  }));

/** Deaths around the calls of MCP servers, while they run. */
const dyingAround: Around = async ({ name }, next) => {
  if (name === "mcp__older__measures") passPoint("before a call leaves for an MCP server");
  const answer = await next();
  if (name === "mcp__older__measures") passPoint("between the answer of an MCP server and the end of its call");
  if (answer.output.startsWith("filled")) passPoint("between the result of an answered question and the end of its call");
  return answer;
};

const template = {
  model: "scripted",
  systemPrompt: "x",
  selfApproval: true,
  permission: { mode: "auto", allow: ["mcp__older__*", "mcp__newer__*"], requireApprovalTools: ["asks"] },
  clientTools: { person: { ...FORM, description: "Asks a person.", readOnly: true } },
  hooks: { around: [dyingAround] },
} as const;

/** Each message makes an agent call the tools of its plan, and say that it is done after their results. */
export default defineConfig({
  models: { scripted: { provider: "scripted", script: { replies: [...replies, { when: {}, say: ["Done."] }] } } },
  mcpServers: {
    older: { url: new URL("older", TRIAL_QUEUE).href, transport: "http" },
    newer: { url: new URL("newer", TRIAL_QUEUE).href, transport: "http" },
  },
  tools: [ordering("orders", true), ordering("orders_once", false), waiting("sleeps"), waiting("asks")],
  templates: {
    [TEMPLATE]: template,
    [LEAD]: { ...template, subagents: { templates: [TEMPLATE, LEAD], depth: 2 } },
    ...Object.fromEntries(
      EXPIRES_S.map((seconds) => [expiring(seconds), { ...template, approvalExpiresMs: seconds * 1_000 }] as const),
    ),
  },
});
