import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { APPROVAL_SETTINGS } from "../../src/agent/approvals/scope.ts";
import { TOOL_LIMIT_SETTINGS } from "../../src/agent/calls/slots.ts";
import { CALL_SETTINGS } from "../../src/agent/calls/scope.ts";
import { CONVERSATION_SETTINGS } from "../../src/agent/conversation/scope.ts";
import { TODO_SETTINGS } from "../../src/agent/calls/todos.ts";
import { PROFILE_SETTINGS, TURN_SETTINGS } from "../../src/agent/loop/scope.ts";
import { MODEL_CALL_SETTINGS, TEMPLATE_MODEL_SETTINGS } from "../../src/agent/models/model-settings.ts";
import { PERMISSION_SETTINGS } from "../../src/agent/policy/permission-source.ts";
import { CLIENT_TOOL_SETTINGS } from "../../src/agent/tools/client-tool.ts";
import { CONFIG_SETTINGS } from "../../src/config/config.ts";
import { HOOK_SETTINGS, TEMPLATE_SETTINGS } from "../../src/config/template-settings.ts";
import {
  ANTHROPIC_SETTINGS,
  HOSTED_SETTINGS,
  OPENAI_SETTINGS,
  PRICE_SETTINGS,
  SCRIPTED_SETTINGS,
} from "../../src/config/models.ts";
import { MCP_SERVER_SETTINGS } from "../../src/config/mcp-servers.ts";
import { RETENTION_SETTINGS } from "../../src/config/retention.ts";
import { CONTROL_GROUP_SETTINGS, SANDBOX_SETTINGS } from "../../src/config/sandbox.ts";
import { TENANT_SETTINGS } from "../../src/config/tenants.ts";
import { WEBHOOK_SETTINGS } from "../../src/config/webhooks.ts";
import { IDENTITY_SETTINGS } from "../../src/server/authenticate.ts";

/** Each group of settings, its file, and the constant that it is. */
const GROUPS = [
  ["agent/conversation/scope.ts", "CONVERSATION_SETTINGS", CONVERSATION_SETTINGS],
  ["agent/models/model-settings.ts", "MODEL_CALL_SETTINGS", MODEL_CALL_SETTINGS],
  ["agent/models/model-settings.ts", "TEMPLATE_MODEL_SETTINGS", TEMPLATE_MODEL_SETTINGS],
  ["agent/loop/scope.ts", "PROFILE_SETTINGS", PROFILE_SETTINGS],
  ["agent/loop/scope.ts", "TURN_SETTINGS", TURN_SETTINGS],
  ["agent/calls/todos.ts", "TODO_SETTINGS", TODO_SETTINGS],
  ["agent/calls/scope.ts", "CALL_SETTINGS", CALL_SETTINGS],
  ["agent/tools/client-tool.ts", "CLIENT_TOOL_SETTINGS", CLIENT_TOOL_SETTINGS],
  ["agent/calls/slots.ts", "TOOL_LIMIT_SETTINGS", TOOL_LIMIT_SETTINGS],
  ["agent/approvals/scope.ts", "APPROVAL_SETTINGS", APPROVAL_SETTINGS],
  ["agent/policy/permission-source.ts", "PERMISSION_SETTINGS", PERMISSION_SETTINGS],
  ["config/models.ts", "PRICE_SETTINGS", PRICE_SETTINGS],
  ["config/models.ts", "HOSTED_SETTINGS", HOSTED_SETTINGS],
  ["config/models.ts", "ANTHROPIC_SETTINGS", ANTHROPIC_SETTINGS],
  ["config/models.ts", "OPENAI_SETTINGS", OPENAI_SETTINGS],
  ["config/models.ts", "SCRIPTED_SETTINGS", SCRIPTED_SETTINGS],
  ["config/template-settings.ts", "HOOK_SETTINGS", HOOK_SETTINGS],
  ["config/retention.ts", "RETENTION_SETTINGS", RETENTION_SETTINGS],
  ["config/sandbox.ts", "CONTROL_GROUP_SETTINGS", CONTROL_GROUP_SETTINGS],
  ["config/sandbox.ts", "SANDBOX_SETTINGS", SANDBOX_SETTINGS],
  ["config/webhooks.ts", "WEBHOOK_SETTINGS", WEBHOOK_SETTINGS],
  ["config/template-settings.ts", "TEMPLATE_SETTINGS", TEMPLATE_SETTINGS],
  ["config/mcp-servers.ts", "MCP_SERVER_SETTINGS", MCP_SERVER_SETTINGS],
  ["config/tenants.ts", "TENANT_SETTINGS", TENANT_SETTINGS],
  ["config/config.ts", "CONFIG_SETTINGS", CONFIG_SETTINGS],
  ["server/authenticate.ts", "IDENTITY_SETTINGS", IDENTITY_SETTINGS],
] as const;

/** The docstrings of the fields of a constant, by field; null for a field without one. */
function docstringsIn(source: string, constant: string): Map<string, string | null> {
  const body = source.slice(source.indexOf(`const ${constant} = {`)).split("\n};")[0] ?? "";
  const fields = body.matchAll(/^(?: {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n)? {2}(\w+): /gm);
  return new Map([...fields].map(([, docstring, field]) => [field ?? "", docstring?.replace(/\s+\*?\s*/g, " ") ?? null]));
}

/** How a docstring says a default. */
function saidDefault(value: unknown): RegExp {
  if (typeof value === "number") return new RegExp(`\\b${value.toLocaleString("en-US")} if omitted`);
  if (typeof value === "boolean") return new RegExp(`\\b${value ? "True" : "False"} if omitted`);
  if (typeof value === "string") return new RegExp(`\`${value}\` if omitted`);
  return /if omitted/i;
}

it.each(GROUPS)("each setting in %s, %s says its default, and its unit if it is a time", async (file, constant, settings) => {
  const source = await readFile(new URL(`../../src/${file}`, import.meta.url), "utf8");
  const docstrings = docstringsIn(source, constant);
  expect(docstrings.size).toBeGreaterThan(1);
  for (const [field, schema] of Object.entries(settings)) {
    const docstring = docstrings.get(field);
    // A setting of another group, looked at there.
    if (docstring === undefined && source.includes("  ...")) continue;
    const said = "default" in schema ? saidDefault(schema.default) : /Must be given|if omitted/i;
    expect(docstring ?? "no docstring", `${constant}.${field}`).toMatch(said);
    if (field.endsWith("Ms")) expect(docstring, `${constant}.${field}`).toMatch(/\bin ms\b/);
  }
});

it.each(GROUPS)("each default in %s, %s is within the bounds of its setting", (_file, _constant, settings) => {
  const ajv = new Ajv({ strict: false }).addKeyword("isFunction");
  for (const [field, schema] of Object.entries<object>(settings)) {
    if (!("default" in schema) || schema.default === null) continue;
    expect(ajv.validate(schema, schema.default), `${field}: ${ajv.errorsText()}`).toBe(true);
  }
});
