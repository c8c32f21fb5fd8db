import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { randomUUIDv7 } from "node:crypto";
import type { AgentEventBody } from "../../events/event.ts";
import { newWrite } from "../../events/write.ts";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { byteLength, marked } from "../../lib/text.ts";
import { agentRow, createdEvent, type NewAgent, type Spawned } from "../calls/agent-row.ts";
import { TREE } from "../calls/children.ts";
import type { ApprovalTemplate } from "../approvals/scope.ts";
import type { CallServices } from "../calls/scope.ts";
import { templateOf, type Configuration, type Hooks } from "../conversation/agent-template.ts";
import type { Ancestor, OwnPermission } from "../policy/own-permission.ts";
import type { Awaited } from "./awaited-child.ts";
import type { DueWait } from "./due.ts";

export type ChildTemplate = ApprovalTemplate & { readonly model: string; readonly hooks: Hooks };

type Services = Pick<CallServices, "clock" | "log" | "ownWorkspaces" | "modelOfTemplate"> & Configuration<ChildTemplate>;

/** Makes the child that a call asked for, with its prompt as its first message. False if its tree is full or archived, or the wait for it is over. */
export async function makeChild(services: Services, wait: DueWait, awaited: Awaited): Promise<boolean> {
  const { tenant, createdBy, parent, call, agentId } = awaited;
  const template = await templateOf(services, awaited);
  const request = readRequest(call.effectiveInput);
  const usualModel = services.modelOfTemplate(request.templateId);
  if (usualModel === undefined || "missing" in template || template.subagents === null)
    throw new Error(
      `the template ${request.templateId}, or that of the agent ${agentId} which starts it, is not configured here`,
    );
  const { subagents } = template;
  const at = services.clock.now();
  const actor = { id: createdBy, kind: parent.createdByKind, tenant };
  const spawned: Spawned = {
    parentId: agentId,
    callId: call.id,
    rootId: parent.rootId ?? agentId,
    depth: parent.depth + 1,
    ancestors: [...parent.ancestors, agentId],
  };
  const agent: NewAgent = {
    id: wait.ref,
    actor,
    templateId: request.templateId,
    model: request.model ?? (subagents.inheritConfig ? parent.model : usualModel),
    workspace: subagents.workspace === "own" ? await ownFolder(services, wait.ref) : parent.workspace,
    toolTimeoutMs: subagents.inheritConfig ? parent.toolTimeoutMs : null,
    permission: permissionOfChild(awaited, template.childPermissions),
    hooks: awaited.hooks,
    title: marked(request.description, 200, "…"),
    spawned,
    at,
  };
  const messageId = randomUUIDv7();
  const content = [{ type: "text", text: request.text } as const];
  const sentBy = { id: agentId, kind: "SYSTEM" } as const;
  const received: AgentEventBody = {
    kind: "MESSAGE_RECEIVED",
    messageId,
    text: request.text.length > EVENT_TEXT_CHARACTERS ? null : request.text,
    images: 0,
    sentBy,
  };
  const { outcome } = await services.log.commit(
    tenant,
    { agentId: wait.ref, createdBy, events: [createdEvent(agent, null), { at, body: received }] },
    {
      createAgent: agentRow(agent),
      treeLimit: { rootId: spawned.rootId, agents: TREE.agents },
      wake: true,
      childAwaited: { ref: wait.ref, due: wait.due },
      received: {
        id: messageId,
        tenant,
        agentId: wait.ref,
        kind: "USER",
        content,
        bytes: byteLength(JSON.stringify(content)),
        ordinal: null,
        turn: null,
        step: null,
        createdBy: sentBy.id,
        createdByKind: sentBy.kind,
        createdAt: at,
        erasedAt: null,
        withdrawnAt: null,
        reminder: null,
        ...(request.outputSchema !== null && { shape: { kind: "ASKED", schema: request.outputSchema } }),
      },
    },
    newWrite(wait.ref),
  );
  return outcome === "COMMITTED";
}

/** A longer text is not in its event, but read from its row. */
const EVENT_TEXT_CHARACTERS = 16_000;

type Request = {
  readonly description: string;
  readonly templateId: string;
  readonly model: string | null;
  readonly text: string;
  readonly outputSchema: JsonObject | null;
};

/** The input of `task_run`, which was validated before the child was wanted. */
function readRequest(input: Json): Request {
  const fields = isJsonObject(input) ? input : {};
  const text = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  const { model, outputSchema } = fields;
  const context = text("context");
  return {
    description: text("description"),
    templateId: text("agentTemplateId"),
    model: typeof model === "string" ? model : null,
    outputSchema: isJsonObject(outputSchema) ? outputSchema : null,
    text: context === "" ? text("prompt") : `${text("prompt")}\n\nContext:\n${context}`,
  };
}

const NO_BLOCKS: OwnPermission = { scope: "TIGHTEN", source: {} };

/** The limits of all above the child, and the permissions that its parent's template sets for children. */
function permissionOfChild(
  { agentId, templateId, templateVersion, permission }: Awaited,
  [source = {}, ...more]: readonly OwnPermission["source"][],
): OwnPermission {
  const { ancestors = [], ...blocks } = permission ?? NO_BLOCKS;
  const own = permission === null ? null : blocks;
  const version = templateVersion === null ? null : { digest: templateVersion.digest };
  const parent: Ancestor = {
    agentId,
    templateId,
    templateVersion: version,
    permission: own,
  };
  return { scope: "TIGHTEN", source, ...(more.length > 0 && { more }), ancestors: [...ancestors, parent] };
}

async function ownFolder({ ownWorkspaces }: Pick<Services, "ownWorkspaces">, agentId: string): Promise<string> {
  const own = join(ownWorkspaces, agentId);
  await mkdir(own, { recursive: true });
  return realpath(own);
}
