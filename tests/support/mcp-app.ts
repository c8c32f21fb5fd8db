import type { TriplaneConfig } from "../../src/triplane.ts";
import { startTestApp, type TestAppOptions } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { QUICK } from "./mcp.ts";
import { callsWith, playedModel, says } from "./models.ts";

/** A server whose model makes one call in each turn. */
export async function appWith(
  mcpServers: NonNullable<TriplaneConfig["mcpServers"]>,
  call: readonly [string, object],
  options: TestAppOptions = {},
) {
  const model = playedModel((request) =>
    request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true ? says("Done.") : callsWith(call),
  );
  const app = await startTestApp({
    model,
    template: { permission: { mode: "auto" } },
    ...options,
    config: { mcpServers, ...options.config },
    overrides: { mcpTimes: QUICK, ...options.overrides },
  });
  return { app, model, client: connect(app.url), tools: app.services.of("local").tools };
}

/** The template of agents that may use all tools of an MCP server. */
export function allowed(server: string) {
  return { permission: { mode: "auto", allow: [`mcp__${server}__*`] } } as const;
}

/** The call that a new agent makes in its first turn, after its end. */
export async function answerOf(client: TestClient) {
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  return (await client.agent(id)).toolCalls.nodes.at(-1);
}
