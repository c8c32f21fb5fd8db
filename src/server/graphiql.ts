import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { GraphiQLOptions } from "graphql-yoga";

/**
 * GraphiQL's initial operations, the same walk as `npm run demo`, one tab a step. TEMPLATE stands for the arguments of
 * a template that the viewer has.
 */
const WALK: readonly string[] = [
  `# 1. Create an agent. Copy its id and the cursor.
mutation CreateAgent {
  createAgent(input: { templateId: TEMPLATE }) {
    agent { id state workspace }
    cursor
    userErrors { code field message }
  }
}
`,
  `# 2. Watch it: all planes in one order. Insert the agent's id and the cursor. Keep this tab open.
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
  `# 4. The inbox of pending approvals, with everything that a decision needs.
query Inbox {
  approvals(filter: { states: [PENDING] }) {
    nodes {
      id kind reason risk inputHash inputText
      subject { __typename ... on ToolCall { name } ... on NetworkHost { host port toolCalls { name inputPreview } } }
      preview { files { path diff } problem }
      commandParts { parameter start end reason }
      agent { id title template { templateId } }
      requestedBy { actorId name }
      requestedAt expiresAt missingDecisions
      decisions { decidedBy { actorId name } decision note }
      viewerCanDecide viewerCannotDecideReasons
    }
    asOf
  }
}
`,
  `# 5. Decide. ALLOW must return the hash of the input that you saw.
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

export type PageOptions = GraphiQLOptions & {
  readonly triplane: { readonly walk: readonly string[]; readonly workspace: string | null };
};

export function pageOptions(isLocal: boolean): PageOptions {
  return {
    title: "Triplane",
    subscriptionsProtocol: "WS",
    triplane: { walk: WALK, workspace: isLocal ? "examples/workspace" : null },
  };
}

const CALL = "YogaGraphiQL.renderYogaGraphiQL(";

export async function renderPage(options: GraphiQLOptions | undefined): Promise<string> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql");
  const page = renderGraphiQL(options);
  const at = page.lastIndexOf(CALL);
  if (at < 0) throw new Error("the page of GraphiQL has another form than this version knows");
  const script = `<script>${readFileSync(new URL("./graphiql-page.js", import.meta.url), "utf8")}</script>`;
  const own = `${page.slice(0, at)}triplanePage.show(YogaGraphiQL, ${page.slice(at + CALL.length)}`;
  return own.replace('<div id="root"></div>', () => `${BAR}<div id="root"></div>${script}`);
}

/**
 * The Content-Security-Policy of a rendered page: the scripts are those of the page, by their hashes, and requests go to this
 * server. Its editor makes styles and workers while it runs.
 */
export function pagePolicy(page: string): string {
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "worker-src blob:",
    "style-src 'unsafe-inline'",
    "img-src data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const BAR = `<form id="triplane-bar" style="display:flex;gap:8px;align-items:center;padding:6px 12px;font:14px system-ui;background:#f2f4f8;color:#1c2333">
  <strong>Triplane</strong>
  <label>Token <input id="triplane-token" type="password" autocomplete="off" spellcheck="false" style="width:22em"></label>
  <button>Use it</button>
  <span id="triplane-who" role="status"></span>
</form>
<style>#root { height: calc(100vh - 42px) }</style>`;
