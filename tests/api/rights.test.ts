import { writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import {
  AgentDocument,
  AgentsDocument,
  CreateAgentDocument,
  NodeDocument,
  PollTimelineDocument,
  SendMessageDocument,
  TimelineDocument,
  ToolCallsDocument,
} from "../generated/documents.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { runningClock } from "../support/clock.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { SCRIPT } from "../support/office.ts";

describe("actors", () => {
  it("without a token or with a wrong one are not admitted, over HTTP and WebSocket", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    for (const token of [undefined, "wrong", ""]) {
      const answer = await connect(app.url, token).ask(AgentsDocument, {});
      expect(answer).toMatchObject({ status: 401, data: null, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
      await expect(connect(app.url, token).subscribe(TimelineDocument, {}).next()).rejects.toMatchObject({ code: 4403 });
    }
  });

  it("see, steer and decide only what their roles allow (invariant 12)", async () => {
    const app = await startTestApp({ config: NEIGHBOURS, script: SCRIPT, template: { selfApproval: false } });
    const [anna, ben, vera, paul, zoe] = ["anna", "ben", "vera", "paul", "zoe"].map((name) => connect(app.url, `${name}-token`));
    if (!anna || !ben || !vera || !paul || !zoe) throw new Error("five actors");
    const agent = await anna.createAgent();
    await anna.send(agent.id, "write a.txt");
    const [required] = ofType(await anna.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approvalId = required?.request.approvalId ?? "";
    const inputHash = required?.request.inputHash ?? "";

    for (const stranger of [ben, zoe]) {
      expect((await stranger.get(AgentDocument, { id: agent.id })).agent).toBeNull();
      for (const id of [agent.id, approvalId, globalId("ToolCall", required?.request.call?.callId ?? "")])
        expect((await stranger.get(NodeDocument, { id })).node).toBeNull();
      expect((await stranger.get(ToolCallsDocument, {})).toolCalls.nodes).toEqual([]);
      expect((await stranger.ask(PollTimelineDocument, { agentIds: [agent.id] })).errors).toMatchObject([
        { extensions: { code: "NOT_FOUND" } },
      ]);
      expect((await stranger.get(PollTimelineDocument, {})).timeline.events).toEqual([]);
      expect(
        (await stranger.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } })).sendMessage.userErrors,
      ).toMatchObject([{ code: "NOT_FOUND" }]);
      expect((await stranger.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([
        { code: "NOT_FOUND" },
      ]);
    }
    for (const reader of [vera, paul]) {
      expect((await reader.get(AgentDocument, { id: agent.id })).agent).not.toBeNull();
      expect(
        (await reader.get(CreateAgentDocument, { input: { templateId: "assistant" } })).createAgent.userErrors,
      ).toMatchObject([{ code: "FORBIDDEN" }]);
      expect(
        (await reader.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } })).sendMessage.userErrors,
      ).toMatchObject([{ code: "FORBIDDEN" }]);
    }
    expect((await vera.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    expect((await anna.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    expect((await paul.decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toEqual([]);
    expect(ofType(await anna.until(agent.id, "PERMISSION_DECIDED"), "PermissionDecided")).toMatchObject([
      { decidedBy: { actorId: "paul", kind: "USER" } },
    ]);
  });

  it("decide on what they asked for only if the template says so", async () => {
    const app = await startTestApp({
      config: { actors: [tokenActor("ada", ["admin"]).actor] },
      script: SCRIPT,
      template: { selfApproval: false },
    });
    const ada = connect(app.url, "ada-token");
    const agent = await ada.createAgent();
    await ada.send(agent.id, "write a.txt");
    const [required] = ofType(await ada.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    expect((await ada.decide({ approvalId: required?.request.approvalId ?? "", decision: "DENY" })).userErrors).toMatchObject([
      { code: "SELF_APPROVAL" },
    ]);
  });
});

describe("a person who asked", () => {
  it("may not decide, though another created the agent; the creator who asked nothing may", async () => {
    const actors = ["ada", "bea"].map((id) => tokenActor(id, ["admin"]).actor);
    const app = await startTestApp({ config: { actors }, script: SCRIPT, template: { selfApproval: false } });
    const ada = connect(app.url, "ada-token");
    const bea = connect(app.url, "bea-token");
    const agent = await bea.createAgent();
    await ada.send(agent.id, "write a.txt");
    const [required] = ofType(await ada.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const decision = {
      approvalId: required?.request.approvalId ?? "",
      inputHash: required?.request.inputHash ?? "",
      decision: "ALLOW",
    } as const;
    expect((await ada.decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect((await bea.decide(decision)).userErrors).toEqual([]);
  });
});

describe("the rights of a request", () => {
  it("are asked for again if its body comes late (invariants 7 and 12)", async () => {
    const now = { ms: Date.now(), role: "admin" as "admin" | "viewer" | "failing" | null, asked: 0 };
    const authenticate = () => {
      now.asked += 1;
      if (now.role === "failing") throw new Error("the sign-in is away");
      return now.role === null ? null : ({ id: "anna", kind: "USER", tenant: "one", roles: [now.role] } as const);
    };
    const trustedDocuments = join(await temporaryFolder(), "documents.json");
    await writeFile(trustedDocuments, "{}");
    const app = await startTestApp({
      // What a viewer sends by its text is refused, and a stranger's is not looked at.
      config: { authenticate, trustedDocuments, operations: { viewer: "trusted" } },
      overrides: { clock: runningClock(() => new Date(now.ms)) },
      expectsErrors: true,
    });
    const body = JSON.stringify({
      query: 'mutation { createAgent(input: { templateId: "assistant" }) { agent { id } userErrors { code } } }',
    });
    /** Sends the headers, and the body when `until` has happened. */
    const sentLate = async (until: () => void): Promise<{ status: number; text: string }> => {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const headers = { "content-type": "application/json", "content-length": body.length };
      const request = httpRequest(app.url, { method: "POST", headers }, resolve).on("error", reject);
      const before = now.asked;
      request.flushHeaders();
      await expect.poll(() => now.asked).toBe(before + 1);
      until();
      request.end(body);
      const response = await promise;
      return { status: response.statusCode ?? 0, text: await readText(response) };
    };
    expect(await sentLate(() => (now.ms += 60_000))).toMatchObject({ status: 200, text: expect.stringContaining('"id"') });
    const sentMeanwhile = (role: "viewer" | "failing" | null) =>
      sentLate(() => {
        now.ms += 60_000;
        now.role = role;
      });
    expect(await sentMeanwhile("failing")).toMatchObject({ status: 500, text: expect.stringContaining("INTERNAL_SERVER_ERROR") });
    now.role = "admin";
    expect(await sentMeanwhile("viewer")).toMatchObject({ text: expect.stringContaining("UNTRUSTED_DOCUMENT") });
    expect(await sentMeanwhile(null)).toMatchObject({ status: 401, text: expect.stringContaining("UNAUTHENTICATED") });
    const agents = await app.database.sql.query<{ id: string }>({ name: "i", text: "SELECT id FROM agent" }, []);
    expect(agents).toHaveLength(1);
  });
});

describe("streams", () => {
  it("give each actor only the events that they may see, live as from the past (invariant 12)", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const anna = connect(app.url, "anna-token");
    const ben = connect(app.url, "ben-token");
    const own = await ben.createAgent();
    const seen: string[] = [];
    const stream = ben.timeline({ since: "0" });
    seen.push(...((await stream.next()).value?.events ?? []).map((event) => event.agent?.id ?? ""));
    const next = stream.next();
    const agent = await anna.createAgent();
    await anna.turn(agent.id, "hello");
    await ben.send(own.id, "hello");
    seen.push(...((await next).value?.events ?? []).map((event) => event.agent?.id ?? ""));
    expect(new Set(seen)).toEqual(new Set([own.id]));
  });

  it("end where their actor is no longer admitted, and say so", async () => {
    let isAdmitted = true;
    let time = Date.now();
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"] } as const;
    const app = await startTestApp({
      config: { authenticate: () => (isAdmitted ? actor : null) },
      overrides: { clock: runningClock(() => new Date(time)) },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const stream = client.timeline({ agentId: agent.id, since: "0" });
    await stream.next();
    time += 6_000;
    const still = stream.next();
    await client.send(agent.id, "hello");
    expect((await still).done).toBe(false);
    await client.until(agent.id, "DONE");
    const [row] = await app.database.sql.query<{ id: string }>({ name: "i", text: "SELECT id FROM agent" }, []);
    isAdmitted = false;
    time += 6_000;
    const secret = { at: new Date(), body: { kind: "TEXT_CHUNK", step: 9, block: 0, delta: "not for anna" } } as const;
    await app.services.log.append("one", [{ agentId: row?.id ?? "", createdBy: "anna", events: [secret] }]);
    const rest: unknown[] = [];
    const drained = (async () => {
      for await (const page of stream) rest.push(...page.events);
    })();
    await expect(drained).rejects.toMatchObject({ code: 4403 });
    expect(JSON.stringify(rest)).not.toContain("not for anna");
  });

  it("end also while nothing is said, where their actor is no longer admitted", async () => {
    let isAdmitted = true;
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"] } as const;
    const app = await startTestApp({
      config: { authenticate: () => (isAdmitted ? actor : null) },
      overrides: { admittedMs: 30 },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const stream = client.timeline({ agentId: agent.id, since: "0" });
    await stream.next();
    const waiting = stream.next();
    isAdmitted = false;
    await expect(waiting).rejects.toMatchObject({ code: 4403 });
  });

  it("end with the socket on which their actor, who is no longer admitted, asks for something else", async () => {
    let isAdmitted = true;
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["user"] } as const;
    const app = await startTestApp({ config: { authenticate: () => (isAdmitted ? actor : null) } });
    const client = connect(app.url);
    const stream = client.iterate("subscription { monitor { caughtUp } }");
    await stream.next();
    const waiting = expect(stream.next()).rejects.toMatchObject({ code: 4403 });
    isAdmitted = false;
    await expect(client.iterate("{ __typename }").next()).rejects.toMatchObject({ code: 4403 });
    await waiting;
  });
});
