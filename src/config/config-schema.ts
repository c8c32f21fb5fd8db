import { Ajv } from "ajv";
import { MAX_TIMEOUT_MS } from "../agent/tools/tool.ts";
import { EVENT_KINDS } from "../events/event.ts";
import type { TriplaneConfig } from "./config.ts";
import { ConfigurationError } from "./environment.ts";

const text = { type: "string", minLength: 1 } as const;
const texts = { type: "array", items: text } as const;
const positive = { type: "integer", minimum: 1 } as const;
/** At least an hour: what is still being written is never removed. */
const days = { type: "number", minimum: 1 / 24 } as const;
const closed = (properties: object, required: readonly string[] = []): object => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const functions = { type: "array", items: { isFunction: true } } as const;
const hooks = closed({
  preToolUse: functions,
  postToolUse: functions,
  around: functions,
  preModel: functions,
  postModel: functions,
  messagesChanged: functions,
});
const permission = closed({
  mode: text,
  deny: texts,
  allow: texts,
  ask: texts,
  allowTools: texts,
  denyTools: texts,
  autoAllowTools: texts,
  requireApprovalTools: texts,
});
const template = closed(
  {
    systemPrompt: text,
    model: text,
    tools: texts,
    permission,
    hooks,
    toolTimeoutMs: { type: "integer", minimum: 1, maximum: MAX_TIMEOUT_MS },
    toolConcurrency: positive,
    maxSteps: positive,
    modelRetries: { type: "integer", minimum: 0, maximum: 20 },
    modelRetryMs: { type: "integer", minimum: 1, maximum: 60_000 },
    modelIdleMs: { type: "integer", minimum: 1, maximum: MAX_TIMEOUT_MS },
    fallbackModel: text,
    exposeThinking: { type: "boolean" },
    retainThinking: { type: "boolean" },
    slowStepMs: positive,
    slowToolMs: positive,
    contextMessages: { type: "integer", minimum: 4 },
    selfApproval: { type: "boolean" },
    approvalQuorum: { type: "integer", minimum: 1, maximum: 20 },
    approvalExpiresMs: { type: "integer", minimum: 1 },
    unknownOutcome: { enum: ["seal", "ask"] },
    trace: { type: "boolean" },
  },
  ["systemPrompt", "model"],
);
const dollars = { type: "number", minimum: 0 } as const;
const price = closed({ input: dollars, output: dollars, cacheRead: dollars, cacheWrite: dollars }, ["input", "output"]);
/** The least that the Messages API takes. */
const THINKING_TOKENS = 1_024;
const thinking = {
  anyOf: [{ const: "adaptive" }, closed({ budgetTokens: { type: "integer", minimum: THINKING_TOKENS } }, ["budgetTokens"])],
} as const;
const hosted = { model: text, maxTokens: positive, price, withoutKey: text } as const;
const model = {
  type: "object",
  required: ["provider"],
  discriminator: { propertyName: "provider" },
  oneOf: [
    closed({ provider: { const: "anthropic" }, ...hosted, thinking, stopSequences: { ...texts, maxItems: 16 } }, ["model"]),
    closed({ provider: { const: "openai" }, ...hosted }, ["model"]),
    closed({ provider: { const: "scripted" }, script: { type: ["string", "object"] } }, ["script"]),
  ],
} as const;
const actor = closed(
  {
    id: text,
    kind: { enum: ["USER", "SERVICE"] },
    tokenHash: { type: "string", pattern: "^[0-9a-f]{64}$" },
    tenant: text,
    roles: { type: "array", minItems: 1, items: { enum: ["viewer", "user", "approver", "admin"] } },
  },
  ["id", "tokenHash", "tenant", "roles"],
);
const named = (value: object): object => ({
  type: "object",
  minProperties: 1,
  propertyNames: { pattern: "^[A-Za-z0-9_-]{1,64}$" },
  additionalProperties: value,
});
const config = closed(
  {
    models: named(model),
    templates: named(template),
    tools: { type: "array", items: { type: "object", required: ["name", "bind"] } },
    permissionModes: { type: "object", additionalProperties: { isFunction: true } },
    hooks,
    on: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, { isFunction: true }])),
    },
    retention: closed({ eventsDays: days, deltasDays: days, outputsDays: days }),
    webhooks: {
      type: "object",
      propertyNames: { pattern: "^[A-Za-z0-9_-]{1,64}$" },
      additionalProperties: closed(
        {
          url: text,
          secret: text,
          kinds: { type: "array", minItems: 1, items: { enum: EVENT_KINDS } },
          tenant: text,
          allowPrivateTarget: { type: "boolean" },
        },
        ["url", "secret"],
      ),
    },
    agentLimit: positive,
    toolLimits: closed({
      running: positive,
      waiting: { type: "integer", minimum: 0 },
      waitMs: { type: "integer", minimum: 1, maximum: MAX_TIMEOUT_MS },
    }),
    workspaceRoots: { ...texts, minItems: 1 },
    defaultWorkspace: text,
    allowedOrigins: { type: "array", items: { type: "string", pattern: "^https?://[^/]+$" } },
    actors: { type: "array", minItems: 1, items: actor },
    authenticate: { isFunction: true },
  },
  ["models", "templates"],
);

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  discriminator: true,
});
ajv.addKeyword({
  keyword: "isFunction",
  schemaType: "boolean",
  validate: (_schema: boolean, value: unknown) => typeof value === "function",
  error: { message: "must be a function" },
});
const validate = ajv.compile<TriplaneConfig>(config);

/** The configuration, once its form is right. Each error points at its field. */
export function checkForm(name: string, value: unknown): TriplaneConfig {
  if (validate(value)) return value;
  const errors = (validate.errors ?? []).map(({ instancePath, message, keyword, params }) => {
    const field = instancePath.slice(1).replaceAll("/", ".") || "the configuration";
    if (keyword === "additionalProperties") return `${field} has no field ${JSON.stringify(params["additionalProperty"])}`;
    if (field.endsWith("tokenHash")) return `${field} must match the form of a SHA-256 in hex: printf %s TOKEN | sha256sum`;
    if (keyword === "discriminator") return `${field}.provider must be anthropic, openai or scripted`;
    if (keyword === "enum") return `${field} must be one of ${(params["allowedValues"] as string[]).join(", ")}`;
    return `${field} ${message ?? keyword}`;
  });
  throw new ConfigurationError(`${name}: ${[...new Set(errors)].join("; ")}`);
}
