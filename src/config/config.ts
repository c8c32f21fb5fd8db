import { Type } from "typebox";
import { ROLES } from "../agent/actors/actor.ts";
import { BUDGET_SETTINGS, MOST_BUDGETS } from "../agent/budgets/budget.ts";
import { TOOL_LIMIT_SETTINGS } from "../agent/calls/slots.ts";
import type { CustomMode } from "../agent/policy/permission.ts";
import { DELIVERED_KINDS } from "../deliveries/consumer.ts";
import type { Listeners } from "../deliveries/listeners.ts";
import { formCheck } from "../lib/form.ts";
import { closed, COUNT, named, ownCode, TEXT, withDefault, type Written } from "../lib/setting.ts";
import { TOKEN_ACTOR_SETTINGS, TOKEN_HASH, type Authenticate } from "../server/authenticate.ts";
import { RATE_LIMIT_SETTINGS } from "../server/rate-limits.ts";
import { OPERATIONS, type RoleOperations } from "../server/trusted-documents.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { MCP_SERVERS } from "./mcp-servers.ts";
import { MODEL } from "./models.ts";
import { RETENTION_SETTINGS } from "./retention.ts";
import { SANDBOX_SETTINGS } from "./sandbox.ts";
import { HOOK_SETTINGS, TEMPLATE_SETTINGS } from "./template-settings.ts";
import { TENANT_SETTINGS, TOOLS } from "./tenants.ts";
import { WEBHOOK_SETTINGS } from "./webhooks.ts";

const ORIGIN = Type.String({
  pattern: "^https?://[^/]+$",
  problem: "must be an origin without a path, such as https://console.example.org",
});

/** The content of the configuration file. See docs/configuration.md. */
export const CONFIG_SETTINGS = {
  /** The models, by name: at least one. Must be given. */
  models: named(MODEL, 1),
  /** The templates, by id: at least one. Must be given. */
  templates: named(closed(TEMPLATE_SETTINGS), 1),
  /** The operator's own tools, made by `defineTool`. None if omitted. */
  tools: withDefault(TOOLS, []),
  /** Servers of the Model Context Protocol whose tools agents may have, by name (docs/mcp.md). None if omitted. */
  mcpServers: withDefault(MCP_SERVERS, {}),
  /** The operator's own permission modes, by name: a mode decides calls without a rule or list. None if omitted. */
  permissionModes: withDefault(
    Type.Unsafe<Readonly<Record<string, CustomMode>>>({ type: "object", additionalProperties: { isFunction: true } }),
    {},
  ),
  /** Hooks that run before those of the templates. None if omitted. */
  hooks: withDefault(closed(HOOK_SETTINGS), {}),
  /** Hooks for single agents (`createAgent(hooks:)`), by name; they run after those of the template. None if omitted. */
  agentHooks: withDefault(named(closed(HOOK_SETTINGS), 0), {}),
  /**
   * The operator's code that gets each event of a kind after its commit, at least once. See docs/approvals.md. None if
   * omitted.
   */
  on: withDefault(
    Type.Unsafe<Listeners>({
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(DELIVERED_KINDS.map((kind) => [kind, { isFunction: true }])),
    }),
    {},
  ),
  /** Retention times. Everything is kept for ever if omitted; `npm run retention` lists the removals. */
  retention: withDefault(closed(RETENTION_SETTINGS), {}),
  /** The bytes that the files of all exports of a tenant may take, compressed (docs/bi.md). 1,000,000,000 if omitted. */
  exportBytes: withDefault(COUNT, 1_000_000_000),
  /**
   * The boxes for programs of agents whose template requires one. See docs/sandbox.md. No further paths are opened or
   * protected if omitted.
   */
  sandbox: withDefault(closed(SANDBOX_SETTINGS), {}),
  /** The places where approvals are announced, by name. None if omitted. */
  webhooks: withDefault(named(closed(WEBHOOK_SETTINGS), 0), {}),
  /**
   * The number of agents that one server advances concurrently; others wait, or run on another server. With actors of
   * several tenants, or `authenticate`, one tenant gets at most two thirds. 2,000 if omitted.
   */
  agentLimit: withDefault(COUNT, 2_000),
  /** The limits of tool calls for all agents of one server together. 32 concurrent, 256 waiting, for 3 minutes if omitted. */
  toolLimits: withDefault(closed(TOOL_LIMIT_SETTINGS), {}),
  /** The limits of each actor's requests to one server. 500,000 points a minute and 1,000 subscriptions if omitted. */
  rateLimit: withDefault(closed(RATE_LIMIT_SETTINGS), {}),
  /** The spending limits of all agents of a tenant, for each tenant (docs/budgets.md). None if omitted. */
  budgets: withDefault(Type.Immutable(Type.Array(closed(BUDGET_SETTINGS), { maxItems: MOST_BUDGETS })), []),
  /** Additional parts of single tenants, by tenant: all other settings are common. None if omitted. */
  tenants: withDefault(named(closed(TENANT_SETTINGS), 0, TEXT), {}),
  /**
   * Folders in which agents may work, relative to the configuration's folder. With actors of several tenants, or
   * `authenticate`, each tenant names its own in `tenants`. Must be given if actors of one tenant may connect; any
   * folder if omitted.
   */
  workspaceRoots: withDefault(Type.Immutable(Type.Array(TEXT, { minItems: 1 })), null),
  /**
   * The folder of agents without a requested one, relative to the configuration's folder. With several tenants, as
   * `workspaceRoots`. An empty one of each agent's own if omitted.
   */
  defaultWorkspace: withDefault(TEXT, null),
  /**
   * The origin at which browsers reach the server, such as `https://triplane.example.org`. Webhooks link the console with it,
   * and sessions trust that a proxy there encrypts. Unknown if omitted.
   */
  publicUrl: withDefault(ORIGIN, null),
  /**
   * Origins of web pages that may connect, such as `https://console.example.org`, in addition to the server's own. None
   * if omitted.
   */
  allowedOrigins: withDefault(Type.Immutable(Type.Array(ORIGIN)), []),
  /**
   * The file of trusted documents that clients send by id, relative to the configuration's folder: `{ id: text }`, or
   * Apollo's manifest. None if omitted.
   */
  trustedDocuments: withDefault(TEXT, null),
  /**
   * The documents that a role may send: `any`, or only `trusted` ones of `trustedDocuments`. An actor with several
   * roles has the rights of all. `any` if omitted.
   */
  operations: withDefault(
    Type.Unsafe<RoleOperations>({
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(ROLES.map((role) => [role, { enum: [...OPERATIONS] }])),
    }),
    {},
  ),
  /**
   * The SHA-256 of the token for reading `/metrics` from another machine: `printf %s TOKEN | sha256sum`. None if
   * omitted: then local clients and administrators may read them.
   */
  metricsTokenHash: withDefault(TOKEN_HASH, null),
  /** The actors who may connect, with the hashes of their tokens. If omitted, and `authenticate` too: every local client. */
  actors: Type.Optional(Type.Immutable(Type.Array(closed(TOKEN_ACTOR_SETTINGS), { minItems: 1 }))),
  /** In place of `actors`: code that returns a request's actor, or null to reject it. See `actors` if omitted. */
  authenticate: Type.Optional(ownCode<Authenticate>()),
};

export type TriplaneConfig = Written<typeof CONFIG_SETTINGS>;

export function defineConfig(config: TriplaneConfig): TriplaneConfig {
  return config;
}

const problemsOf = formCheck(closed(CONFIG_SETTINGS), "the configuration");

/** The configuration, if its form is valid. Each error names its field. */
export function checkForm(name: string, value: unknown): TriplaneConfig {
  if (value === undefined) throw new ConfigurationError(`${name} exports nothing: write \`export default defineConfig({ … })\``);
  const problems = problemsOf(value);
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  return value as TriplaneConfig;
}
