import { APPROVAL_SETTINGS } from "../../src/agent/approvals/scope.ts";
import { CALL_SETTINGS } from "../../src/agent/calls/scope.ts";
import { TODO_SETTINGS } from "../../src/agent/calls/todos.ts";
import { CONTEXT_SETTINGS, CONVERSATION_SETTINGS } from "../../src/agent/conversation/scope.ts";
import { PROFILE_SETTINGS, TURN_SETTINGS, VERSION_SETTINGS, type Template } from "../../src/agent/loop/scope.ts";
import { readPermission } from "../../src/agent/policy/permission-source.ts";
import { complete } from "../../src/lib/setting.ts";

/** A template as the defaults make it, for tests below the configuration. Those who ask may decide themselves. */
export function testTemplate(): Template {
  return {
    id: "assistant",
    ...complete(PROFILE_SETTINGS, {}),
    ...complete(CONVERSATION_SETTINGS, { systemPrompt: "You are tested." }),
    ...complete(TURN_SETTINGS, { model: "test" }),
    ...complete(VERSION_SETTINGS, {}),
    ...complete(CALL_SETTINGS, {}),
    ...complete(APPROVAL_SETTINGS, { selfApproval: true }),
    permission: readPermission({}, "templates.assistant.permission", { tools: new Map(), modes: new Map() }).permission,
    presentPermission: null,
    box: null,
    childPermissions: [],
    above: [],
    data: {},
    digest: "present",
    subagents: null,
    memory: null,
    schedules: [],
    budgets: [],
    todo: complete(TODO_SETTINGS, {}),
    context: complete(CONTEXT_SETTINGS, {}),
    hooks: { preToolUse: [], postToolUse: [], around: [], preModel: [], postModel: [], messagesChanged: [] },
  };
}
