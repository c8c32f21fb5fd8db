import { folderHung } from "../agent/workspace/answering-folders.ts";
import { explainCall, type CallExplanation } from "../agent/calls/judge.ts";
import { explainHost } from "../agent/calls/hosts/explain-host.ts";
import { callProblems } from "../agent/calls/refusals/call-problems.ts";
import { templateOf } from "../agent/conversation/agent-template.ts";
import { NETWORK } from "../agent/policy/hosts/host-rule.ts";
import { readPermission, type PermissionSource } from "../agent/policy/permission-source.ts";
import { type Baseline, EXAMPLES, MOST_CALLS, simulate, type CallCursor, type Simulation } from "../agent/policy/simulate.ts";
import type { Json } from "../lib/json.ts";
import { type Context, clientError, type UserError, visibleAgents, visibleCreator } from "./context.ts";
import { namesIn } from "./actor.ts";
import { exactTime } from "../lib/time.ts";
import { ROW_ID, rowId } from "../lib/global-id.ts";
import type { ToolCallFilter } from "./tool-audit.ts";
import { versionedAgent } from "./template.ts";
import { toolCall } from "./tool-call.ts";

export type ExplanationResult = { readonly explanation: CallExplanation | null; readonly problems: readonly UserError[] };

/** The call to explain: a recorded or a hypothetical one. Null for omitted parts. */
export type ExplainPermission = {
  readonly callId: string | null;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly input: Json;
};

/** Why a call would be allowed, asked or denied under the present rules; or, with `network` as the tool, a connection. */
export async function explainPermission(context: Context, request: ExplainPermission): Promise<ExplanationResult> {
  const { callId, agentId, tool, input } = request;
  if (callId === null) {
    if (agentId !== null && tool !== null && input !== null) return explained(context, rowId("Agent", agentId), tool, input);
    throw clientError("BAD_USER_INPUT", "give `callId` alone, or `agentId`, `tool` and `input`");
  }
  if (agentId !== null || tool !== null || input !== null)
    throw clientError("BAD_USER_INPUT", "`callId` determines the agent, the tool and the input: omit those arguments");
  const call = await toolCall(context, callId, {});
  if (call === null) throw clientError("NOT_FOUND", "there is no such call: list yours with `toolCalls`");
  const recorded = call.effectiveInput ?? call.requestedInput;
  if (recorded !== null) return explained(context, call.agentId, call.name, recorded as Json);
  return { explanation: null, problems: [{ code: "INVALID", field: ["callId"], message: "the input of this call was erased" }] };
}

async function explained(context: Context, agentId: string, tool: string, input: Json): Promise<ExplanationResult> {
  const { prisma, actor, services } = context;
  const row = await prisma.agent.findUnique({ where: { id: agentId, AND: visibleAgents(actor) } });
  if (row === null) throw clientError("NOT_FOUND", "there is no such agent: list yours with `agents`");
  const agent = versionedAgent(row);
  const { permission } = agent;
  const hooks = (row.hooks as readonly string[] | null) ?? [];
  const template = await templateOf(services, { ...agent, hooks });
  if ("missing" in template) throw clientError("NOT_FOUND", `${template.missing} of this agent is not configured`);
  if (tool === NETWORK) {
    const host = await explainHost(services, { ...row, permission, template }, input);
    if (host.ok) return { explanation: host.value, problems: [] };
    const { field, message } = host.refusal;
    return { explanation: null, problems: [{ code: "INVALID", field: ["input", field], message }] };
  }
  if (!(await services.folders.answers(row.workspace)))
    return { explanation: null, problems: [{ code: "INVALID", field: ["agentId"], message: folderHung(row.workspace) }] };
  const judged = await explainCall(services, { ...row, permission, template }, tool, input);
  return judged.ok
    ? { explanation: judged.value, problems: [] }
    : { explanation: null, problems: callProblems(judged.refusal, ["tool"]) };
}

export type SimulatePolicy = {
  readonly permission: PermissionSource;
  readonly filter: Pick<ToolCallFilter, "created" | "agentIds" | "templateIds" | "tools"> | null;
  readonly first: number | null;
  readonly after: string | null;
  readonly baseline: Baseline;
  readonly examples: number | null;
};

export type SimulationView = Simulation & { readonly endCursor: string | null };

export type SimulationResult = { readonly simulation: SimulationView | null; readonly problems: readonly UserError[] };

/** A simulation over the calls that the actor may see. */
export async function simulatePolicy(context: Context, request: SimulatePolicy): Promise<SimulationResult> {
  const { services, actor } = context;
  const { permission, problems } = readPermission(request.permission, "proposed", services);
  if (problems.length > 0)
    return {
      simulation: null,
      problems: problems.map(({ field, message }) => ({ code: "INVALID", field: ["permission", ...field], message })),
    };
  const most = request.first ?? MOST_CALLS;
  if (most < 1 || most > MOST_CALLS)
    throw clientError("BAD_USER_INPUT", `\`first\` must be between 1 and ${MOST_CALLS}, not ${most}`);
  const examples = request.examples ?? EXAMPLES.usual;
  if (examples < 1 || examples > EXAMPLES.most)
    throw clientError("BAD_USER_INPUT", `\`examples\` must be between 1 and ${EXAMPLES.most}, not ${examples}`);
  const { baseline } = request;
  const { agentIds, templateIds, tools, created } = request.filter ?? {};
  const simulation = await context.expensive.run(context.actor, () =>
    simulate(
      services,
      permission,
      {
        tenant: actor.tenant,
        createdBy: visibleCreator(actor),
        agentIds: agentIds?.map((id) => rowId("Agent", id)) ?? null,
        templateIds: templateIds ? namesIn(templateIds) : null,
        tools: tools ? namesIn(tools) : null,
        from: created?.from ?? null,
        to: created?.to ?? null,
      },
      { after: request.after === null ? null : callCursorOf(request.after), most, baseline, examples },
    ),
  );
  return { simulation: { ...simulation, endCursor: simulation.next === null ? null : cursorOf(simulation.next) }, problems: [] };
}

function cursorOf({ createdAt, id }: CallCursor): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString("base64");
}

function callCursorOf(cursor: string): CallCursor {
  const [time = "", id = ""] = Buffer.from(cursor, "base64").toString("utf8").split(" ");
  const createdAt = exactTime(time);
  if (createdAt === null || !ROW_ID.test(id))
    throw clientError("BAD_USER_INPUT", "`after` must be the endCursor of an earlier simulation");
  return { createdAt, id };
}
