import type { Template } from "../../src/agent/template.ts";

/** A template as the defaults make it, for tests below the configuration. */
export function testTemplate(): Template {
  return {
    id: "assistant",
    systemPrompt: "You are tested.",
    model: "test",
    tools: null,
    permission: { mode: "default", allowTools: null, denyTools: [], autoAllowTools: [], requireApprovalTools: [] },
    hooks: { preToolUse: [], postToolUse: [] },
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
  };
}
