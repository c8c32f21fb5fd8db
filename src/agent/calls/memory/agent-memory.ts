import { MEMORY, type MemoryChange, type MemoryOwner } from "../../../db/commit/memory-change.ts";
import type { Sql } from "../../../db/sql.ts";
import type { MemoryEvent } from "../../../events/memory-event.ts";
import { judge } from "../../policy/judge.ts";
import type { Permissions } from "../../policy/permission.ts";
import type { RuleValues } from "../../policy/rule-values.ts";
import type { AgentMemory, PlannedChange } from "../../tools/memory/agent-memory.ts";
import { MEMORY_TOOL } from "../../tools/memory/memory.ts";
import { answerGiven, deletedEntry, lineageOf, listMemory, memoryOwner, readMemory, type MemoryTemplate } from "./memory-rows.ts";

/** A change of memory by a call, and the event that reports it. */
export type MemoryWrite = { readonly change: Omit<MemoryChange, "at">; readonly event: MemoryEvent };

/** The times that a change is planned: others may be faster. */
const TRIES = 20;

export type MemoryCall = MemoryPermissions & {
  readonly sql: Sql;
  readonly agent: { readonly id: string; readonly tenant: string; readonly createdBy: string };
  readonly template: MemoryTemplate;
  readonly callId: string;
  /** The values of the call's input that rules saw. */
  readonly values: RuleValues | null;
  readonly ended: AbortSignal;
  /** False if the change was refused, or if the lease is lost. */
  readonly commit: (write: MemoryWrite) => Promise<boolean>;
  readonly lost: AbortSignal;
};

/** The memory of an agent for one of its calls; null if its template has none. */
export function agentMemory(call: MemoryCall): AgentMemory | null {
  const { sql, agent, template, callId, ended, lost, commit } = call;
  const owner = memoryOwner(template, agent);
  const { memory } = template;
  if (owner === null || memory === null) return null;
  const [command] = call.values?.["command"] ?? [];
  const closedBy = (path: string): string | null => closedPath(call, command?.kind === "text" ? command.text : "", path);
  const list: AgentMemory["list"] = async () => {
    const entries = await listMemory(sql, agent.tenant, owner);
    return entries.filter(({ path }) => closedBy(path) === null);
  };
  return {
    list,
    read: async (path) => readMemory(sql, agent.tenant, owner, path),
    closedBy,
    async change(plan) {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const given = await answerGiven(sql, callId);
        if (given !== null) return given;
        const planned = await plan({
          entries: await listMemory(sql, agent.tenant, owner),
          lineage: await lineageOf(sql, agent.id, memory),
          read: async (path) => readMemory(sql, agent.tenant, owner, path),
          deleted: async (path) => deletedEntry(sql, agent.tenant, owner, path),
        });
        if (ended.aborted) throw new Error("the call has ended: its result is dropped");
        if (await commit(writeOf(owner, agent.id, callId, planned))) return planned.answer;
        if (lost.aborted) throw new Error("the memory could not be changed: this server no longer holds the agent");
      }
      throw new Error("others change this memory at the same time: view the entry, and try again");
    },
  };
}

function writeOf(owner: MemoryOwner, agentId: string, callId: string, planned: PlannedChange): MemoryWrite {
  const { ops, claims, action, path, newPath, entry, answer } = planned;
  return {
    change: { ...owner, writtenBy: null, writtenByKind: null, callId, agentId, ops, claims, limits: MEMORY, answer },
    event: {
      kind: "MEMORY_CHANGED",
      templateId: owner.templateId,
      requesterId: owner.requester === "" ? null : owner.requester,
      memoryAction: action,
      path,
      newPath,
      entryCount: ops.length,
      entryId: entry?.id ?? null,
      version: entry?.version ?? null,
      bytes: entry?.bytes ?? null,
      lineage: entry?.lineage ?? null,
      callId,
      changedBy: { id: agentId, kind: "SYSTEM" },
    },
  };
}

/** The permissions by which the paths of an agent's memory are open or closed. */
export type MemoryPermissions = { readonly agent: { readonly id: string }; readonly permissions: () => Permissions };

/** Why a call with this command for one path would not run: a deny rule, or an ask rule, speaks of it. Null if neither does. */
export function closedPath({ agent, permissions }: MemoryPermissions, command: string, path: string): string | null {
  const readOnly = command === "view";
  const text = (value: string): RuleValues[string] => [{ kind: "text", text: value }];
  const call = { agentId: agent.id, name: MEMORY_TOOL, readOnly, values: { command: text(command), path: text(path) } };
  const { verdict, decidedBy, reason } = judge(call, { ...permissions(), stored: [], box: null });
  const isOfRule = decidedBy.startsWith("deny ") || (decidedBy.startsWith("ask ") && !readOnly);
  return verdict !== "allow" && isOfRule ? reason : null;
}
