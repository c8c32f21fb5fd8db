import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import { rowId } from "../../src/lib/global-id.ts";
import type { TestAppOptions } from "./app.ts";
import type { TestClient } from "./client.ts";
import { ofType } from "./client.ts";
import { ACTORS, inbox, office } from "./office.ts";

/** A tool that asks for hosts, as in `a.example:443 b.example:8443`, and says which of them it may reach. */
export const REACH: Tool = defineTool<{ hosts: string }>({
  name: "reach",
  description: "Reaches hosts.",
  readOnly: true,
  inputSchema: { type: "object", required: ["hosts"], properties: { hosts: { type: "string" } } },
  run: async ({ hosts }, { mayReach }) => {
    const lines = [];
    for (const each of hosts.split(" ")) {
      const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(each) ?? [];
      lines.push(`${each} ${(await mayReach(host, Number(port))) ? "reached" : "refused"}`);
    }
    return { output: lines.join("\n"), details: null };
  },
});

/** Each "reach HOSTS, HOSTS" makes the model call the tool once or twice in one step; then it says what it read. */
export const REACHING = {
  replies: [
    {
      when: { user: "^reach (?<one>[^,]+), (?<two>[^,]+)$" },
      call: [
        { tool: "reach", input: { hosts: "{{one}}" } },
        { tool: "reach", input: { hosts: "{{two}}" } },
      ],
    },
    { when: { user: "^reach (?<one>[^,]+)$" }, call: [{ tool: "reach", input: { hosts: "{{one}}" } }] },
    { when: { result: "reach" }, say: ["{{result}}"] },
    { when: {}, say: ["Hello."] },
  ],
};

/** The configuration of an office whose agents reach hosts. */
export const REACHING_CONFIG: Partial<TriplaneConfig> = { ...ACTORS, tools: [REACH] };

/** An office whose agents reach hosts. */
export function reachingOffice(template: Partial<TemplateConfig> = {}, options: TestAppOptions = {}) {
  return office(template, { script: REACHING, config: REACHING_CONFIG, ...options });
}

/** Sends a message that makes the agent ask for hosts, and waits until it asks for so many. */
export async function askHosts(client: TestClient, text: string, many = 1, agentId?: string) {
  const agent = agentId ?? (await client.createAgent()).id;
  const { cursor } = await client.agent(agent);
  await client.send(agent, text);
  const asked = [];
  for await (const page of client.timeline({ agentId: agent, since: cursor })) {
    asked.push(...ofType(page.events, "PermissionRequired").map(({ request }) => request));
    const isPaused = ofType(page.events, "StateChanged").some(({ state }) => state === "PAUSED");
    const [first] = asked;
    if (first === undefined || asked.length < many || !isPaused) continue;
    const question = { approvalId: first.approvalId, inputHash: first.inputHash };
    return { agent, rowId: rowId("Agent", agent), asked, question, cursorBefore: cursor };
  }
  throw new Error("the agent did not ask");
}

/** The results that the model has read, a text each, in order. */
export async function resultsOf(client: TestClient, agentId: string): Promise<readonly string[]> {
  const { messages } = await client.agent(agentId);
  return messages.nodes.flatMap(({ blocks }) =>
    (blocks ?? []).flatMap((block) => (block.__typename === "ToolResultBlock" ? [block.output ?? ""] : [])),
  );
}

/** The questions about hosts that are open, as somebody sees them in the inbox, by host: those of one millisecond have no order. */
export async function openHosts(client: TestClient) {
  const open = await inbox(client, { states: ["PENDING"], kinds: ["NETWORK_HOST"] });
  const hostOf = ({ subject }: (typeof open)[number]): string => (subject !== null && "host" in subject ? subject.host : "");
  return open.toSorted((one, other) => hostOf(one).localeCompare(hostOf(other)));
}
