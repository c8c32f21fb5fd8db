import type { WaitKind } from "../../db/commit/change.ts";
import { lookAtBudgetQuestion } from "../approvals/budgets/open-question.ts";
import { endAllowRule } from "../approvals/allow-rules/stored-rule.ts";
import { endDelegation } from "../approvals/delegate.ts";
import { expireDue } from "../approvals/expire.ts";
import type { ApprovalServices } from "../approvals/scope.ts";
import type { TenantBudgets } from "../budgets/tenant-budgets.ts";
import { timeOutLater } from "../calls/later.ts";
import { lookAtChild } from "./child.ts";
import type { DueWait } from "./due.ts";
import type { McpTasks, TaskServices } from "./mcp-task.ts";
import { lookAtServer } from "./mcp-server.ts";
import { lookAtSchedule } from "./schedule.ts";

/** The watches of idle agents' files on this server. */
export type IdleWatching = { look(wait: DueWait): Promise<void> };

/** The making of exports on this server, and their removal. */
export type ExportLooks = { look(wait: DueWait): Promise<void> };

export type EndDueServices = ApprovalServices &
  TaskServices & {
    readonly budgets: TenantBudgets;
    readonly idleWatches: IdleWatching;
    readonly exports: ExportLooks;
    readonly mcpTasks: Pick<McpTasks, "look">;
  };

type EndDueKind = (services: EndDueServices, wait: DueWait) => Promise<void>;

/** The end of a wait of each kind whose time has come. */
const END_DUE: Readonly<Record<WaitKind, EndDueKind>> = {
  APPROVAL: (services, { ref }) => expireDue(services, ref),
  BUDGET: (services, { ref }) => lookAtBudgetQuestion(services, ref),
  HOST: (services, { ref }) => expireDue(services, ref),
  SHELL_HOST: (services, { ref }) => expireDue(services, ref),
  LATER: (services, { ref }) => timeOutLater(services, ref),
  CLIENT_TOOL: (services, { ref }) => timeOutLater(services, ref),
  CHILD: lookAtChild,
  MCP_TASK: (services, wait) => services.mcpTasks.look(services, wait),
  MCP_SERVER: lookAtServer,
  BACKGROUND_CHILD: lookAtChild,
  DELEGATION: (services, { ref }) => endDelegation(services, ref),
  ALLOW_RULE: (services, { ref }) => endAllowRule(services, ref),
  SCHEDULE: lookAtSchedule,
  WATCH: ({ idleWatches }, wait) => idleWatches.look(wait),
  EXPORT: ({ exports }, wait) => exports.look(wait),
};

export function endDue(services: EndDueServices, wait: DueWait): Promise<void> {
  return END_DUE[wait.kind](services, wait);
}
