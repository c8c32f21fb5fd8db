import { explainCall, type CallExplanation } from "../agent/gate/explain.ts";
import type { OwnPermission } from "../agent/gate/agent-policy.ts";
import type { Json } from "../lib/json.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import { rowId } from "./global-id.ts";
import { visibleAgents } from "./visibility.ts";

/** Why a call of this agent would be allowed, asked or denied. */
export async function explainPermission(
  context: Context,
  { agentId, tool, input }: { readonly agentId: string; readonly tool: string; readonly input: Json },
): Promise<CallExplanation> {
  const { prisma, actor, parts } = context;
  const row = await prisma.agent.findUnique({ where: { id: rowId("Agent", agentId) ?? "", AND: visibleAgents(actor) } });
  if (row === null) throw clientError("NOT_FOUND", "there is no such agent: list yours with `agents`");
  const template = parts.templates.get(row.templateId);
  if (template === undefined) throw clientError("NOT_FOUND", `the template ${row.templateId} of this agent is not configured`);
  const permission = row.permission as OwnPermission | null;
  const explained = await explainCall(parts, { ...row, permission, template }, tool, input);
  if (!explained.ok) throw clientError("BAD_USER_INPUT", explained.refusal);
  return explained.value;
}
