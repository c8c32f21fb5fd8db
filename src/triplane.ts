/**
 * The package `triplane`, as configurations and own tools import it: `import { defineConfig, defineTool } from
 * "triplane"`. Other files are internal: they may move.
 */
export { defineConfig, type TriplaneConfig } from "./config/config.ts";
export { builtinTools, presets } from "./config/presets.ts";
export type { HooksConfig } from "./config/template-settings.ts";
export type { ModelConfig } from "./config/models.ts";
export type { TemplateConfig } from "./config/template-settings.ts";
export type { WebhookConfig } from "./config/webhooks.ts";
export { Type } from "typebox";
export { defineTool, optional, type Risk, type Tool, type ToolDefinition } from "./agent/tools/tool.ts";
export type { ToolContext } from "./agent/tools/tool-context.ts";
export { later, type Later } from "./agent/tools/later.ts";
export type { ToolPreview } from "./agent/tools/tool-result.ts";
export type { ToolResult } from "./agent/tools/tool-result.ts";
export type { HookCall, PostToolUse, PreToolUse, PreToolUseAnswer } from "./agent/tools/tool-hooks.ts";
export type { Around } from "./agent/calls/hooks.ts";
export type {
  HookAnswer,
  HookedAgent,
  HookStep,
  MessagesChanged,
  PostModel,
  PreModel,
} from "./agent/conversation/model-hooks.ts";
export type { Script } from "./agent/models/script.ts";
export type { CustomMode, PolicyCall, Verdict } from "./agent/policy/permission.ts";
export type { PermissionSource } from "./agent/policy/permission-source.ts";
export { PathRefused } from "./agent/workspace/workspace.ts";
export { sandboxAvailable } from "./agent/workspace/sandbox/available.ts";
export type { Workspace } from "./agent/workspace/workspace.ts";
export type { Acted, ListenerInterrupt, ListenerMessage, ListenerReminder } from "./deliveries/listener-actions.ts";
export type { ListenedEvent, Listener, ListenerActions, Listeners } from "./deliveries/listeners.ts";
export { ToolDefinitionError } from "./agent/tools/input-schema.ts";
