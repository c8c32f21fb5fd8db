import { APPROVAL_SETTINGS } from "../../src/agent/approvals/template.ts";
import { CALL_SETTINGS } from "../../src/agent/calls/template.ts";
import { CONVERSATION_SETTINGS } from "../../src/agent/conversation/template.ts";
import { TURN_SETTINGS, type Template } from "../../src/agent/loop/template.ts";
import { readPermission } from "../../src/agent/policy/permission-source.ts";
import { complete } from "../../src/lib/setting.ts";

/** A template as the defaults make it, for tests below the configuration. Those who ask may decide themselves. */
export function testTemplate(): Template {
  return {
    id: "assistant",
    ...complete(CONVERSATION_SETTINGS, { systemPrompt: "You are tested." }),
    ...complete(TURN_SETTINGS, { model: "test" }),
    ...complete(CALL_SETTINGS, {}),
    ...complete(APPROVAL_SETTINGS, { selfApproval: true }),
    permission: readPermission({}, "templates.assistant.permission", { tools: new Map(), modes: new Map() }).permission,
    box: null,
    hooks: { preToolUse: [], postToolUse: [], around: [], preModel: [], postModel: [], messagesChanged: [] },
  };
}
