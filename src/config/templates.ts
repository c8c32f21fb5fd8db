import { protectedPaths } from "../agent/workspace/sandbox/protected-paths.ts";
import { Type } from "typebox";
import { APPROVAL_SETTINGS } from "../agent/approvals/scope.ts";
import { CALL_SETTINGS } from "../agent/calls/scope.ts";
import { CONVERSATION_SETTINGS } from "../agent/conversation/scope.ts";
import { TURN_SETTINGS, type Template } from "../agent/loop/scope.ts";
import {
  PERMISSION_SETTINGS,
  readPermission,
  type PermissionSource,
  type Vocabulary,
  type Permission,
} from "../agent/policy/permission.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { closed, complete, type Written } from "../lib/setting.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import { HOOK_SETTINGS, hooksOf, type HooksConfig } from "./hooks.ts";

export const PLAIN_SETTINGS = { ...CONVERSATION_SETTINGS, ...TURN_SETTINGS, ...CALL_SETTINGS, ...APPROVAL_SETTINGS };

export const TEMPLATE_SETTINGS = {
  ...PLAIN_SETTINGS,
  /**
   * The calls that run without a question, after one, or never. If omitted, read-only tools run and all others are
   * asked about.
   */
  permission: Type.Optional(closed(PERMISSION_SETTINGS)),
  /** The operator's code, run after the common hooks. None if omitted. */
  hooks: Type.Optional(closed(HOOK_SETTINGS)),
};

export type TemplateConfig = Written<typeof TEMPLATE_SETTINGS>;

export type TemplateSource = {
  readonly path: string;
  readonly id: string;
  readonly place: string;
  readonly config: TemplateConfig;
  readonly hooks: HooksConfig;
  readonly protect: readonly string[];
  readonly modelNames: readonly string[];
  readonly vocabulary: Vocabulary;
};

export function templateOf({ path, id, place, config, hooks, protect, modelNames, vocabulary }: TemplateSource): Template {
  const field = `${path}: ${place}`;
  const problems = new Problems();
  for (const role of ["model", "fallbackModel"] as const)
    problems.of(() => checkModel(`${field}.${role}`, config[role], modelNames));
  problems.of(() => checkTools(`${field}.tools`, config.tools, vocabulary.tools));
  const permission = problems.of(() => permissionOf(path, `${place}.permission`, config.permission ?? {}, vocabulary));
  const plain = complete(PLAIN_SETTINGS, config);
  return {
    id,
    ...plain,
    box: plain.sandbox === "none" ? null : { protectedPaths: protectedPaths(protect) },
    ...problems.none({ permission }),
    hooks: hooksOf(hooks, `${place}.hooks`, config.hooks ?? {}),
  };
}

function permissionOf(path: string, place: string, source: PermissionSource, vocabulary: Vocabulary): Permission {
  const { permission, problems } = readPermission(source, place, vocabulary);
  if (problems.length === 0) return permission;
  throw new ConfigurationError(
    problems.map(({ field, message }) => `${path}: ${[place, ...field].join(".")}: ${message}`).join("\n"),
  );
}

function checkModel(field: string, name: string | undefined, known: readonly string[]): void {
  if (name !== undefined && !known.includes(name))
    throw new ConfigurationError(`${field}: there is no model ${JSON.stringify(name)}: the models are ${known.join(", ")}`);
}

function checkTools(field: string, names: readonly string[] | undefined, tools: ReadonlyMap<string, Tool>): void {
  for (const [index, name] of (names ?? []).entries()) {
    if (!tools.has(name))
      throw new ConfigurationError(
        `${field}.${index}: there is no tool ${JSON.stringify(name)}: the tools are ${[...tools.keys()].join(", ")}`,
      );
  }
}
