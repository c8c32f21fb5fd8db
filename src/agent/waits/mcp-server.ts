import type { Statement } from "../../db/sql.ts";
import { AWAY_MS, moveOn, type DueWait } from "./due.ts";
import type { TaskServices } from "./mcp-task.ts";
import { serverOf } from "./wait.ts";

const READ: Statement<{ agentId: string; createdBy: string }, [waitId: string]> = {
  name: "read_server_wait",
  text: `SELECT a.id AS "agentId", a.created_by AS "createdBy" FROM wait w JOIN agent a ON a.id = w.agent_id WHERE w.id = $1 AND w.settled_at IS NULL`,
};

/** Ends the wait of a call for its MCP server, if this server of Triplane reaches it, or the time of the call is over. */
export async function lookAtServer(services: TaskServices, wait: DueWait): Promise<void> {
  const { server, untilMs } = serverOf(wait.ref);
  const state = services.mcpServers.get(server)?.state.kind;
  const now = services.clock.now();
  if ((state === "AWAY" || state === "STARTING") && now.getTime() < untilMs) return void (await moveOn(services, wait, AWAY_MS));
  const [found] = await services.sql.query(READ, [wait.id]);
  if (found === undefined) return;
  await services.log.commit(
    wait.tenant,
    { ...found, events: [] },
    { wake: true, waitSettled: { ref: wait.ref, at: now.toISOString() } },
  );
}
