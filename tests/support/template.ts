import { readPermission } from "../../src/agent/policy/permission-source.ts";
import type { Template } from "../../src/agent/loop/template.ts";

/** A template as the defaults make it, for tests below the configuration. */
export function testTemplate(): Template {
  return {
    id: "assistant",
    systemPrompt: "You are tested.",
    model: "test",
    tools: null,
    permission: readPermission({}, "templates.assistant.permission", { tools: new Map(), modes: new Map() }).permission,
    hooks: { preToolUse: [], postToolUse: [], around: [], preModel: [], postModel: [], messagesChanged: [] },
    toolTimeoutMs: 60_000,
    toolConcurrency: 3,
    maxSteps: 50,
    modelRetries: 3,
    modelRetryMs: 1_000,
    modelIdleMs: 60_000,
    fallbackModel: null,
    exposeThinking: false,
    retainThinking: false,
    slowStepMs: 60_000,
    slowToolMs: 30_000,
    contextMessages: 200,
    selfApproval: true,
    approvalQuorum: 1,
    approvalExpiresMs: null,
    unknownOutcome: "seal",
    trace: false,
  };
}
