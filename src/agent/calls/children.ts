import { randomUUIDv7 } from "node:crypto";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ChildRequest, StartedChild } from "../tools/child.ts";
import type { ShapeChecks } from "../tools/shapes/shape-checks.ts";
import type { CallingAgent } from "./call.ts";

/** The most agents of a tree that are at work concurrently, with its first, and the most levels below that, whatever templates say. */
export const TREE = { agents: 64, depth: 8 };

export const FULL_TREE = `${TREE.agents} agents of this task are at work, which is the most: do it without another one`;

type Open = { readonly own: readonly string[]; readonly ofTree: number };

/** The open children of an agent, by their calls, and of its tree. */
const COUNT: Statement<Open, [agentId: string, rootId: string]> = {
  name: "count_open_children",
  text: `SELECT coalesce(json_agg(w.call_id) FILTER (WHERE w.agent_id = $1), '[]') AS own, count(*)::int AS "ofTree"
    FROM wait w JOIN agent a ON a.id = w.agent_id WHERE w.settled_at IS NULL AND w.kind IN ('CHILD', 'BACKGROUND_CHILD') AND (a.root_id = $2 OR a.id = $2)`,
};

/** The settings of a template that say which agents may be started. */
export type Subagents = {
  readonly templates: readonly string[];
  readonly depth: number;
  readonly atOnce: number;
  readonly inheritConfig: boolean;
};

/** The template of an agent that starts another, and those of the agents above it. */
export type StartingTemplate = {
  readonly subagents: Subagents | null;
  readonly above: readonly { readonly subagents: Pick<Subagents, "depth"> | null }[];
};

export type ChildServices = {
  readonly sql: Sql;
  readonly modelOfTemplate: (templateId: string) => string | undefined;
  readonly hasModel: (name: string) => boolean;
  readonly shapes: Pick<ShapeChecks, "problemsOf">;
};

/** The children that calls of one agent are starting, under one lease: they count before their rows are there. */
export class StartingChildren {
  readonly #calls = new Set<string>();

  /** Checks a request for a child. Rejects with advice for the model if it may not be started. */
  async start(
    { sql, modelOfTemplate, hasModel, shapes }: ChildServices,
    agent: CallingAgent,
    { subagents, above }: StartingTemplate,
    callId: string,
    { templateId, model, outputSchema, ...request }: ChildRequest,
  ): Promise<StartedChild> {
    if (subagents === null || !subagents.templates.includes(templateId))
      throw new Error(
        `there is no agent ${JSON.stringify(templateId)} to start: the agents are ${subagents?.templates.join(", ") ?? "none"}`,
      );
    const own = modelOfTemplate(templateId);
    if (own === undefined) throw new Error(`the agent ${templateId} is not configured on this server`);
    const chosen = model ?? (subagents.inheritConfig ? agent.model : own);
    if (!hasModel(chosen)) throw new Error(`there is no model ${JSON.stringify(chosen)}: leave it out`);
    const [problem] = outputSchema === null ? [] : await shapes.problemsOf(outputSchema);
    if (problem !== undefined) throw new Error(`the outputSchema at ${problem.path} ${problem.message}`);
    const tooDeep = depthProblem(agent.depth, subagents.depth, above);
    if (tooDeep !== null) throw new Error(tooDeep);
    this.#calls.add(callId);
    try {
      const [open] = await sql.query(COUNT, [agent.id, agent.rootId ?? agent.id]);
      if (open === undefined) throw new Error("an aggregate answers a row");
      // Those that are being started are counted from the first on: of two that would be one too many, the later is refused.
      const starting = [...this.#calls].filter((id) => !open.own.includes(id));
      const before = starting.indexOf(callId);
      if (open.own.length + before >= subagents.atOnce)
        throw new Error(`${subagents.atOnce} agents that you have started are at work, which is the most: wait for one of them`);
      if (1 + open.ofTree + before >= TREE.agents) throw new Error(FULL_TREE);
    } catch (error) {
      this.#calls.delete(callId);
      throw error;
    }
    return { ...request, agentId: randomUUIDv7(), templateId, model: chosen };
  }

  /** The call has ended, or waits: its child has its row, or is not started. */
  ended(callId: string): void {
    this.#calls.delete(callId);
  }
}

/** Why no further level may stand below an agent; null if one may. Each agent above says how many may stand below it. */
function depthProblem(level: number, own: number, above: StartingTemplate["above"]): string | null {
  const allowed = above.map(({ subagents }, of) => of + (subagents?.depth ?? 0));
  if (level + 1 <= Math.min(TREE.depth, level + own, ...allowed)) return null;
  return `you are ${level} levels below the first agent, and no further level may stand below you: do it yourself`;
}

const COUNT_STARTED: Statement<{ count: number }, [agentIds: readonly string[]]> = {
  name: "count_children",
  text: `SELECT (SELECT count(*)::int FROM agent c WHERE c.parent_id = a.id) AS count FROM unnest($1::text[]) WITH ORDINALITY AS a(id, place) ORDER BY a.place`,
};

/** The numbers of agents that agents have started, in the order of `agentIds`. */
export async function readChildCounts(sql: Sql, agentIds: readonly string[]): Promise<readonly number[]> {
  return (await sql.query(COUNT_STARTED, [agentIds])).map(({ count }) => count);
}
