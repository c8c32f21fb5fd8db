/** The operations that GraphiQL opens with: the same walk as `npm run demo`, one tab a step. */
export const WALK: readonly string[] = [
  `# 1. Create an agent. Copy its id and the cursor.
mutation CreateAgent {
  createAgent(input: { templateId: "assistant", workspace: "examples/workspace" }) {
    agent { id state workspace }
    cursor
    userErrors { code field message }
  }
}
`,
  `# 2. Watch it: all planes in one order. Put in the agent's id and the cursor. Leave this tab running.
subscription Watch {
  timeline(agentIds: ["AGENT_ID"], since: "0") {
    cursor
    caughtUp
    events {
      kind
      seq
      ... on TextChunk { delta }
      ... on ToolEvent { call { name state inputPreview durationMs } }
      ... on PermissionRequired { request { approvalId inputHash reason call { name inputPreview } } }
      ... on Done { reason }
    }
  }
}
`,
  `# 3. Send it a message.
mutation SendMessage {
  sendMessage(input: { agentId: "AGENT_ID", text: "Find every TODO and make a todo for each." }) {
    message { id }
    userErrors { code field message }
  }
}
`,
  `# 4. Saving the list must be allowed. The inbox shows what is asked.
query Inbox {
  approvals(filter: { states: [PENDING] }) {
    nodes { id reason risk inputHash input toolCall { name } agent { id } }
    asOf
  }
}
`,
  `# 5. Decide. ALLOW is bound to the input that you saw: give back its hash.
mutation Decide {
  decideApproval(input: { approvalId: "APPROVAL_ID", decision: ALLOW, inputHash: "INPUT_HASH" }) {
    approval { state decidedBy { actorId name } }
    userErrors { code field message }
  }
}
`,
  `# 6. The audit of every tool call.
query Audit {
  toolCalls(first: 20) {
    nodes { name state durationMs input output stages { stage durationMs } auditTrail { state timestamp note } explanation { verdict rule reason } }
  }
}
`,
];
