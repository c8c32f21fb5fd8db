import { expect, it } from "vitest";
import { announcement } from "../../src/deliveries/webhooks.ts";
import type { EventBody, TimelineEvent } from "../../src/events/event.ts";
import { actorGlobalId, globalId } from "../../src/lib/global-id.ts";

const announced = (body: EventBody): unknown => {
  const event = {
    tenant: "acme",
    position: 1,
    agentId: "a",
    createdBy: "anna",
    seq: 1,
    channel: "MONITOR",
    at: new Date(0),
    bytes: 1,
    body,
  };
  return announcement(event as TimelineEvent, null, "Petra");
};

it("names rows and actors as the API does, and leaves JSON of tools, hooks and models as it is", () => {
  const theirs = { id: "42", kind: "ticket", messageId: "theirs", owner: { id: "7", kind: "USER" } };
  expect(announced({ kind: "TOOL_CUSTOM_EVENT", callId: "c", tool: "t", eventType: "x", eventData: theirs })).toMatchObject({
    data: { callId: "c", eventData: theirs },
  });
  expect(announced({ kind: "EXECUTION_STARTED", callId: "c", tool: "t", inputPreview: "{}", parameters: theirs })).toMatchObject({
    data: { parameters: theirs },
  });
  expect(announced({ kind: "MESSAGE_WITHDRAWN", messageId: "m", withdrawnBy: { id: "7", kind: "USER" } })).toMatchObject({
    data: {
      messageId: globalId("Message", "m"),
      withdrawnBy: { id: actorGlobalId({ id: "7", kind: "USER" }), kind: "USER", actorId: "7" },
    },
  });
  const changedBy = { id: "7", kind: "USER" } as const;
  const rule = {
    allowRuleId: "r",
    rule: "fs_write",
    templateId: "t",
    agentId: "of one agent",
    approvalId: "p",
    note: null,
    createdBy: changedBy,
    createdAt: "",
    expiresAt: null,
  };
  expect(announced({ kind: "ALLOW_RULE_STORED", rule, changedBy })).toMatchObject({
    data: { rule: { allowRuleId: globalId("AllowRule", "r"), agentId: globalId("Agent", "of one agent") } },
  });
});

it("names the tool and the decider of a decision, which the event itself does not", () => {
  const decided = {
    kind: "PERMISSION_DECIDED",
    approvalId: "p",
    callId: "c",
    decision: "ALLOW",
    decidedBy: { id: "7", kind: "USER" },
    onBehalfOf: null,
    note: null,
    approvalState: "ALLOWED",
    missingDecisions: 0,
    allowedHash: "h",
    allowRuleId: null,
  } as const;
  expect(announced({ ...decided, tool: "bash" })).toMatchObject({ data: { tool: "bash", deciderName: "Petra" } });
  // An event of an earlier version.
  expect(announced(decided)).toMatchObject({ data: { tool: null, deciderName: "Petra" } });
});
