import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { GATE_STAGES } from "../../src/events/snapshots.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { Model, ModelRequest } from "../../src/agent/models/model.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import type { HookCall, PreToolUseAnswer } from "../../src/agent/tools/tool-hooks.ts";
import { TOOLS, type AskedCall } from "./gate-scenario.ts";
import { callsWith, says } from "./models.ts";

/** The committed row of a call, as somebody else reads it while the tool takes effect. */
type Committed = {
  readonly tenant: string;
  readonly agentId: string;
  readonly workspace: string;
  readonly state: string;
  readonly attempt: number;
  readonly input: unknown;
  readonly hash: string | null;
  readonly verdict: string | null;
  readonly hookVerdict: string | null;
  readonly stages: readonly { readonly stage: string; readonly startedAt: number | null }[];
  readonly startedAt: Date | null;
  /** The hashes of what people allowed of the call: an edit has its own. */
  readonly allowed: readonly string[] | null;
  readonly copiedFrom: string | null;
};

/** An effect of a tool: what it did, and what was committed of its call when it did it. */
export type Effect = {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly committed: Committed | undefined;
};

const READ = {
  name: "read_committed",
  text: `SELECT c.tenant, c.agent_id AS "agentId", a.workspace, c.state::text, c.attempt, c.effective_input AS input, c.input_hash AS hash, c.verdict,
      c.hook_verdict AS "hookVerdict", c.stages, c.started_at AS "startedAt", c.copied_from AS "copiedFrom",
      (SELECT array_agg(coalesce(d.input_hash, p.input_hash)) FROM approval p JOIN decision d ON d.approval_id = p.id
        WHERE p.tool_call_id = c.id AND d.decision IN ('ALLOW', 'RETRY') AND p.state <> 'PENDING' AND d.decided_at <= c.started_at) AS allowed
    FROM tool_call c JOIN agent a ON a.id = c.agent_id WHERE c.id = $1`,
};

const INPUT_SCHEMA = {
  type: "object",
  required: ["n", "hook"],
  properties: {
    n: { type: "integer" },
    hook: { type: "string" },
    deep: { type: "object" },
    filled: { type: "string", default: "by default" },
  },
  additionalProperties: false,
} as const;

/** The world that the tools change: it sees each effect, and can die in the middle of one. */
export class World {
  readonly effects: Effect[] = [];
  /** Rejects at the first effect that went round the gate, and says how. */
  readonly broken = Promise.withResolvers<never>();
  readonly #dying = new Map<string, { left: number; die: () => Promise<void> }>();
  /** The database of the server; null until it runs. */
  sql: Sql | null = null;

  /** Lets the server of the agent die in one of its effects, the next one for 1. */
  dieIn(agentRow: string, left: number, die: () => Promise<void>): void {
    this.#dying.set(agentRow, { left, die });
  }

  /** The tools of the trial. */
  tools(): readonly Tool[] {
    return TOOLS.map(({ name, readOnly, idempotent }) =>
      defineTool<{ n: number; hook: string }>({
        name,
        description: `The test's tool ${name}.`,
        readOnly,
        idempotent,
        inputSchema: INPUT_SCHEMA,
        run: async (input, { callId, agentId }) => {
          await this.#happen({ callId, tool: name, input }, agentId);
          return { output: "done", details: null };
        },
      }),
    );
  }

  async #happen(effect: Omit<Effect, "committed">, agentRow: string): Promise<void> {
    const [committed] = (await this.sql?.query<Committed, [string]>(READ, [effect.callId])) ?? [];
    const happened = { ...effect, committed };
    this.effects.push(happened);
    const problems = problemsOf(happened);
    if (problems.length > 0) this.broken.reject(new Error(`${problems.join(", ")}: ${JSON.stringify(happened)}`));
    const dying = this.#dying.get(agentRow);
    if (dying === undefined || (dying.left -= 1) > 0) return;
    this.#dying.delete(agentRow);
    await dying.die();
    await new Promise(() => {});
  }
}

/** Makes the calls of the steps that the newest message of the user names, one step after the other. */
export const OBEDIENT: Model = {
  name: "obedient",
  price: null,
  stream: ({ messages }: ModelRequest) => {
    const texts = messages.map(({ role, content }) =>
      role === "user" ? content.find(({ type }) => type === "text") : undefined,
    );
    const asked = texts.findLastIndex((block) => block?.type === "text" && block.text.startsWith("["));
    const block = texts[asked];
    const steps = block?.type === "text" ? (JSON.parse(block.text) as (readonly AskedCall[])[]) : [];
    const made = messages
      .slice(asked)
      .filter(({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"));
    const step = steps[made.length];
    return step === undefined ? says("Done.") : callsWith(...step.map(({ tool, input }) => [tool, input] as const));
  },
};

/** A hook that does with a call what its input says. */
export function obey({ input }: HookCall): PreToolUseAnswer {
  const { hook, n } = input as unknown as AskedCall["input"];
  switch (hook) {
    case "none":
      return undefined;
    case "ask":
    case "deny":
      return { decision: hook, reason: "as it was asked" };
    case "input":
      return n < 10 ? { input: { n: n + 10, hook } } : undefined;
    case "result":
      return { result: { output: "of a hook", details: null } };
  }
}

/** The hash of a call as DESIGN.md tells it: RFC 8785 over all that decides what will run. */
function hashOf({ callId, tool, input, committed }: Effect): string {
  const form = {
    agent: committed?.agentId,
    call: callId,
    input,
    schema: INPUT_SCHEMA,
    tenant: committed?.tenant,
    tool,
    workspace: committed?.workspace,
  };
  return createHash("sha256")
    .update(canonicalize(form) ?? "")
    .digest("hex");
}

/** The problems of an effect: it was not committed before as what it is, or nobody allowed it. */
function problemsOf(effect: Effect): string[] {
  const { committed } = effect;
  if (committed === undefined) return ["its call is not committed"];
  const { state, hash, verdict, hookVerdict, stages, startedAt, allowed, input } = committed;
  const verdicts = new Set([verdict, hookVerdict]);
  const passed = stages.filter((one) => one.startedAt !== null && startedAt !== null && one.startedAt <= startedAt.getTime());
  const missing = GATE_STAGES.slice(0, 4).filter((stage) => !passed.some((one) => one.stage === stage));
  return [
    ...(state === "EXECUTING" ? [] : [`its call is ${state}`]),
    ...(canonicalize(input) === canonicalize(effect.input) ? [] : ["it ran with another input than the one that is committed"]),
    ...(hash === hashOf(effect) ? [] : ["its hash is that of something else"]),
    ...(verdict === null ? ["it has no verdict"] : []),
    ...(verdicts.has("deny") ? ["it was denied"] : []),
    ...(verdicts.has("ask") && !(allowed ?? []).includes(hashOf(effect)) ? ["nobody allowed exactly this"] : []),
    ...missing.map((stage) => `it did not pass ${stage}`),
  ];
}
