import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import { ApprovalsDocument, type ApprovalFilter } from "../generated/documents.ts";
import { tokenActor } from "./actors.ts";
import { startTestApp, type TestAppOptions } from "./app.ts";
import { connect, ofType, type TestClient } from "./client.ts";

/** The people of an office, each with a token. */
export const PEOPLE = {
  anna: tokenActor("anna", ["user"]),
  ulf: tokenActor("ulf", ["user"]),
  vera: tokenActor("vera", ["viewer"]),
  paul: tokenActor("paul", ["approver"]),
  petra: tokenActor("petra", ["approver"]),
  pia: tokenActor("pia", ["user", "approver"]),
  ada: tokenActor("ada", ["admin"]),
};
/** One of them. */
export type Person = keyof typeof PEOPLE;
/** The configuration that lets them connect. */
export const ACTORS: Partial<TriplaneConfig> = { actors: Object.values(PEOPLE).map(({ actor }) => actor) };

/** Each "write NAME" makes the model write the file NAME and then say what came of it. */
export const SCRIPT = {
  replies: [
    { when: { user: "^hello" }, say: ["Hello."] },
    { when: { user: "write (?<name>.*)" }, call: [{ tool: "fs_write", input: { path: "{{name}}", content: "text" } }] },
    { when: { result: "fs_write" }, say: ["{{result}}"] },
    { when: {}, say: ["Hello."] },
  ],
};

/** A server where anna asks and others decide. */
export async function office(template: Partial<TemplateConfig> = {}, options: TestAppOptions = {}) {
  const app = await startTestApp({ script: SCRIPT, template: { selfApproval: false, ...template }, config: ACTORS, ...options });
  const as = (person: Person): TestClient => connect(app.url, PEOPLE[person].token);
  return { app, as };
}

/** Sends a message that makes the agent ask, and gives the approval as `person` sees it. */
export async function ask(client: TestClient, text = "write a.txt", agentId?: string) {
  const agent = agentId ?? (await client.createAgent()).id;
  const { cursor } = await client.agent(agent);
  await client.send(agent, text);
  for await (const page of client.timeline({ agentId: agent, since: cursor })) {
    const [asked] = ofType(page.events, "PermissionRequired");
    if (asked !== undefined) return { agent, ...asked.request, request: asked.request, cursorBefore: cursor };
  }
  throw new Error("the agent did not ask");
}

export async function inbox(client: TestClient, filter: ApprovalFilter = {}) {
  return (await client.get(ApprovalsDocument, { filter })).approvals.nodes;
}

export async function approvalOf(client: TestClient, approvalId: string) {
  const found = (await inbox(client)).find(({ id }) => id === approvalId);
  if (found === undefined) throw new Error("there is no such approval");
  return found;
}
