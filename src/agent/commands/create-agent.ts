import { randomUUIDv7 } from "node:crypto";
import { mkdir, realpath, rmdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isInside } from "../../lib/path-inside.ts";
import type { Statement } from "../../db/sql.ts";
import { type OutsideOutcome, newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { headBytes, messageOf } from "../../lib/text.ts";
import { actorRef, missingAbility, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import type { OwnPermission } from "../policy/own-permission.ts";
import { readPermission } from "../policy/permission-source.ts";
import type { AgentServices, Template } from "../loop/scope.ts";
import { schedulesMade, type MadeSchedules } from "../calls/schedules/schedule.ts";
import { agentRow, createdEvent, type NewAgent, readTitle } from "../calls/agent-row.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";
import { folderHung } from "../workspace/answering-folders.ts";
import { isInRoots } from "../workspace/roots.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";

/** The request of createAgent. Null takes the template's value. */
export type CreateAgent = {
  readonly templateId: string;
  readonly workspace: string | null;
  readonly model: string | null;
  readonly toolTimeoutMs: number | null;
  /** The agent's own permission block. One that replaces its template's needs an administrator. */
  readonly permission: OwnPermission | null;
  /** Names of configured hooks that wrap its calls, in addition to its template's. */
  readonly hooks: readonly string[];
  readonly title: string | null;
  readonly idempotencyKey: string | null;
};

/** The most of an unknown name that a refusal repeats, in bytes. */
const SHOWN_BYTES = 200;

export async function createAgent(
  services: AgentServices,
  actor: Actor,
  request: CreateAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "CREATE_AGENTS");
  if (missing !== null) return refused(missing);
  const keyed = { actor, operation: "createAgent", key: request.idempotencyKey, body: request };
  return onceByKey(services.sql, keyed, () => tryToCreate(services, actor, request, keyed));
}

async function tryToCreate(
  services: AgentServices,
  actor: Actor,
  request: CreateAgent,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const template = services.templates.get(request.templateId);
  if (template === undefined)
    return invalid(
      "NOT_FOUND",
      "templateId",
      `there is no template ${JSON.stringify(headBytes(request.templateId, SHOWN_BYTES))}: the templates are ${[...services.templates.keys()].join(", ")}`,
    );
  const model = request.model ?? template.model;
  if (!services.models.has(model))
    return invalid(
      "NOT_FOUND",
      "model",
      `there is no model ${JSON.stringify(headBytes(model, SHOWN_BYTES))}: the models are ${[...services.models.keys()].join(", ")}`,
    );
  const { toolTimeoutMs } = request;
  if (toolTimeoutMs !== null && (toolTimeoutMs < 1 || toolTimeoutMs > MAX_TIMEOUT_MS))
    return invalid("INVALID", "toolTimeoutMs", `must be between 1 and ${MAX_TIMEOUT_MS}`);
  const permission = checkPermission(services, actor, request.permission);
  if (!permission.ok) return permission;
  const unknownHooks = request.hooks.find((name) => !services.agentHooks.has(name));
  if (unknownHooks !== undefined)
    return invalid(
      "NOT_FOUND",
      "hooks",
      `there are no hooks ${JSON.stringify(headBytes(unknownHooks, SHOWN_BYTES))}: agentHooks of the configuration has ${[...services.agentHooks.keys()].join(", ") || "none"}`,
    );
  const title = readTitle(request.title);
  if (!title.ok) return title;
  await services.log.begin(actor.tenant);
  const id = randomUUIDv7();
  const workspace = await findWorkspace(services, request.workspace, id);
  if (!workspace.ok) return workspace;
  const at = services.clock.now();
  const agent: NewAgent = {
    id,
    actor,
    templateId: template.id,
    model,
    workspace: workspace.value,
    toolTimeoutMs,
    permission: permission.value,
    hooks: request.hooks,
    title: title.value,
    spawned: null,
    at,
  };
  const begun = await schedulesOf(services, agent, template);
  const write = newWrite(id);
  let outcome: OutsideOutcome | null = null;
  try {
    outcome = await services.log.commit(
      actor.tenant,
      { agentId: id, createdBy: actor.id, events: [createdEvent(agent, null), ...begun.events.map((body) => ({ at, body }))] },
      { ...claimKey(keyed, id, at), createAgent: agentRow(agent), ...begun.change },
      write,
    );
  } finally {
    // If an answer was lost, the agent may exist.
    const isThere = outcome?.outcome === "COMMITTED" || write.isLost;
    if (!isThere && isOwn(services, request.workspace)) await removeOwn(services, id);
  }
  return answerOf(id, outcome, (message) => {
    throw new Error(`an agent could not be created: ${message}`);
  });
}

const READ_NOW: Statement<{ now: Date }, []> = { name: "read_policy_time", text: "SELECT policy_time() AS now" };

/** The schedules of the template. The creator of the agent sends their reminders. */
async function schedulesOf(
  { sql }: AgentServices,
  { id, actor, at }: NewAgent,
  { schedules }: Template,
): Promise<Pick<MadeSchedules, "change" | "events">> {
  if (schedules.length === 0) return { change: {}, events: [] };
  const [row] = await sql.query(READ_NOW, []);
  const now = row?.now ?? at;
  return schedulesMade(schedules, {
    id,
    tenant: actor.tenant,
    stepCount: 0,
    createdBy: actorRef(actor),
    isOfTemplate: true,
    now,
    at,
  });
}

function checkPermission(
  services: AgentServices,
  actor: Actor,
  permission: OwnPermission | null,
): Result<OwnPermission | null, CommandRefusal> {
  if (permission === null) return accepted(null);
  const missing = permission.scope === "REPLACE" ? missingAbility(actor, "REPLACE_PERMISSION") : null;
  if (missing !== null) return refused({ ...missing, field: ["permissionScope"] });
  const [problem] = readPermission(permission.source, "permission", services).problems;
  if (problem !== undefined)
    return refused({ code: "INVALID", field: ["permission", ...problem.field], message: problem.message });
  return accepted(permission);
}

/**
 * The real path of the requested folder, which must exist, inside of one of the roots if there are any. A relative path
 * starts in the first root that has it, then in the server's working directory. Without a request: the configuration's
 * default, or an empty folder of the agent's own.
 */
async function findWorkspace(
  { workspaceRoots: roots, folder, folders, defaultWorkspace, ownWorkspaces, closedFolders }: AgentServices,
  wanted: string | null,
  agentId: string,
): Promise<Result<string, CommandRefusal>> {
  if (isOwn({ defaultWorkspace }, wanted)) {
    const own = join(ownWorkspaces, agentId);
    await mkdir(own, { recursive: true });
    return accepted(await realpath(own));
  }
  const where = roots === null ? "" : ` inside of the workspace roots (${roots.join(", ") || "your tenant has none"})`;
  const problem = `${JSON.stringify(wanted)} is not a folder${where}: name one that exists${roots === null ? "" : ", or add its folder to workspaceRoots"}`;
  if (wanted === "" || wanted?.includes("\0")) return invalid("INVALID", "workspace", problem);
  const places =
    wanted === null ? [resolve(folder, defaultWorkspace ?? "")] : [...(roots ?? []), folder].map((from) => resolve(from, wanted));
  let real: string | null = null;
  let hung: string | null = null;
  for (const place of places) {
    if (!(await folders.answers(place))) hung ??= place;
    else real = await realFolder(place);
    if (real !== null && (wanted === null || isInRoots(roots, real))) break;
    real = null;
  }
  if (real === null)
    return invalid("INVALID", "workspace", hung === null ? problem : `${JSON.stringify(wanted)}: ${folderHung(hung)}`);
  if (real !== defaultWorkspace && closedFolders.some((place) => isInside(place, real)))
    return invalid("INVALID", "workspace", `${JSON.stringify(wanted)} is the server's own: name another folder${where}`);
  return accepted(real);
}

/** Null if it is no folder. */
async function realFolder(place: string): Promise<string | null> {
  const real = await realpath(place).catch(() => null);
  return real !== null && (await stat(real)).isDirectory() ? real : null;
}

function isOwn({ defaultWorkspace }: Pick<AgentServices, "defaultWorkspace">, wanted: string | null): boolean {
  return wanted === null && defaultWorkspace === null;
}

async function removeOwn({ ownWorkspaces, logger }: AgentServices, agentId: string): Promise<void> {
  await rmdir(join(ownWorkspaces, agentId)).catch((error: unknown) =>
    logger.warn(`the folder of an agent that was not created stays (${messageOf(error)})`),
  );
}

function invalid(code: CommandRefusal["code"], field: string, message: string): Result<never, CommandRefusal> {
  return refused({ code, field: [field], message });
}
