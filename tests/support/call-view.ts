import type { CallView } from "../../src/agent/calls/call.ts";

/** A call as its owner sees it: one that was asked for and not judged yet, but for what is given. */
export function callView(given: Partial<CallView>): CallView {
  return {
    id: "call",
    ordinal: 0,
    providerId: "p",
    name: "look",
    state: "PENDING",
    attempt: 0,
    requestedInput: {},
    effectiveInput: null,
    ruleValues: null,
    inputHash: null,
    output: null,
    images: null,
    isError: false,
    error: null,
    stages: [],
    startedAt: null,
    completedAt: null,
    durationMs: null,
    approval: null,
    hosts: [],
    cachedFrom: null,
    cancelRequested: null,
    ...given,
  };
}
