import { createHash, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:net";
import { basename } from "node:path";
import canonicalize from "canonicalize";
import { GATE_STAGES } from "../../src/events/snapshots.ts";
import type { Sql, Statement } from "../../src/db/sql.ts";
import type { Model, ModelRequest } from "../../src/agent/models/model.ts";
import { bashRun } from "../../src/agent/tools/bash/run.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import { later } from "../../src/agent/tools/later.ts";
import type { HookCall, PreToolUseAnswer } from "../../src/agent/tools/tool-hooks.ts";
import { TOOLS, type AskedCall, type HookName, type Scenario } from "./gate-scenario.ts";
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

/**
 * An effect of a tool: what it did, and what was committed of its call when it did it. A shell in the background takes effect
 * after its call; a call that was given the result of another took the effect of that one for its own. A client acts when a
 * call is handed to it.
 */
export type Effect = {
  readonly kind: "run" | "background" | "given" | "client";
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

const GIVEN: Statement<{ id: string; cachedFrom: string }, [agentId: string]> = {
  name: "read_given",
  text: `SELECT id, cached_from AS "cachedFrom" FROM tool_call WHERE agent_id = $1 AND cached_from IS NOT NULL AND copied_from IS NULL`,
};

const SHELLS: Statement<{ callId: string }, [agentId: string, name: string]> = {
  name: "read_shells_of_name",
  text: `SELECT s.call_id AS "callId" FROM shell s JOIN tool_call c ON c.id = s.call_id
    WHERE s.agent_id = $1 AND c.effective_input -> 'env' ->> 'NAME' = $2 ORDER BY s.started_at`,
};

/** The form of the input of the trial's tools, but the shell. */
export const INPUT_SCHEMA = {
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

/** The input of a call for a shell in the background, besides the command line, which is the same for all. */
type ShellInput = Extract<AskedCall, { tool: "bash_run" }>["input"];

/** The world that the tools change: it sees each effect, and can die in the middle of one. */
export class World {
  readonly #door: Server;
  readonly effects: Effect[] = [];
  /** Rejects at the first effect that went round the gate, and says how. */
  readonly broken = Promise.withResolvers<never>();
  /** The calls whose shells in the background took effect. */
  readonly #acted = new Set<string>();
  readonly #dying = new Map<string, { left: number; die: () => Promise<void> }>();
  /** The database of the server; null until it runs. */
  sql: Sql | null = null;

  private constructor(door: Server) {
    this.#door = door;
  }

  /** A world with a door of its own, on which shells in the background tell what they do, and wait until it was seen. */
  static async open(): Promise<World> {
    const door = createServer();
    await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
    const world = new World(door);
    door.on("connection", (socket) => {
      socket.on("error", () => {});
      socket.once("data", (said) => {
        const [home = "", NAME = "", HOOK = ""] = said.toString().trim().split(" ");
        const seen = world.#shellActs(basename(home), { NAME, HOOK: HOOK as HookName });
        seen.catch((error: unknown) => world.broken.reject(error)).finally(() => socket.end("seen\n"));
      });
    });
    return world;
  }

  close(): void {
    this.#door.close();
  }

  /** The command line of all shells in the background. */
  get command(): string {
    const address = this.#door.address();
    const port = typeof address === "object" ? address?.port : null;
    return `exec 3<>/dev/tcp/127.0.0.1/${port} && echo "$HOME $NAME $HOOK" >&3 && read -r seen <&3`;
  }

  /** The text by which a user asks for the steps. */
  asks(steps: Scenario["steps"]): string {
    const shell = { command: this.command, background: true };
    return JSON.stringify(
      steps.map((calls) =>
        calls.map(({ tool, input }) => ({ tool, input: tool === "bash_run" ? { ...shell, ...input } : input })),
      ),
    );
  }

  /** The input that people put in the place of another. */
  edited(tool: string): object {
    const env = { NAME: `${randomUUID()}-edited`, HOOK: "none" };
    return tool === "bash_run"
      ? { command: this.command, background: true, env }
      : { n: 20, hook: "none", deep: { edited: true } };
  }

  /** Lets the server of the agent die in one of its effects, the next one for 1. */
  dieIn(agentRow: string, left: number, die: () => Promise<void>): void {
    this.#dying.set(agentRow, { left, die });
  }

  /** The tools of the trial. */
  tools(): readonly Tool[] {
    return TOOLS.map(({ name, readOnly, idempotent, cacheable }) =>
      defineTool<{ n: number; hook: string }>({
        name,
        description: `The test's tool ${name}.`,
        readOnly,
        idempotent,
        cacheable,
        paths: {},
        inputSchema: INPUT_SCHEMA,
        run: async (input, { callId, agentId }) => {
          await this.#happen({ callId, tool: name, input, kind: "run" });
          await this.#dieIn(agentId);
          return { output: "done", details: null };
        },
      }),
    );
  }

  /** A tool that acts, and whose result comes later from the bearer of the token that `onToken` gets. */
  laterTool(name: string, onToken: (callId: string, token: string) => void): Tool {
    return defineTool<{ n: number; hook: string }>({
      name,
      description: `The test's tool ${name}.`,
      readOnly: false,
      inputSchema: INPUT_SCHEMA,
      run: async (input, { callId, completionToken }) => {
        await this.#happen({ callId, tool: name, input, kind: "run" });
        onToken(callId, completionToken());
        return later();
      },
    });
  }

  /** A client of an agent acts on a call that was handed to it. */
  async clientActs(callId: string, tool: string, input: unknown): Promise<void> {
    await this.#happen({ callId, tool, input, kind: "client" });
  }

  /** Looks at the calls of an agent that were given the results of others: each stands for the effect of the one that ran. */
  async lookAtGiven(agentRow: string): Promise<void> {
    for (const { id, cachedFrom } of (await this.sql?.query(GIVEN, [agentRow])) ?? []) {
      const ran = this.effects.find(({ callId, committed }) => callId === cachedFrom && committed?.agentId === agentRow);
      if (ran === undefined) this.broken.reject(new Error(`${id} was given the result of ${cachedFrom}, which never ran`));
      else await this.#happen({ callId: id, tool: ran.tool, input: ran.input, kind: "given" });
    }
  }

  /** A shell in the background takes effect: it tells its agent, and the variables that its call gave it. */
  async #shellActs(agentRow: string, env: ShellInput["env"]): Promise<void> {
    const shells = (await this.sql?.query(SHELLS, [agentRow, env.NAME])) ?? [];
    const shell = shells.find(({ callId }) => !this.#acted.has(callId));
    const input = { command: this.command, background: true, env };
    if (shell === undefined) return this.broken.reject(new Error(`no call stands behind the shell ${JSON.stringify(env)}`));
    this.#acted.add(shell.callId);
    await this.#happen({ callId: shell.callId, tool: "bash_run", input, kind: "background" });
  }

  async #happen(effect: Omit<Effect, "committed">): Promise<void> {
    const [committed] = (await this.sql?.query<Committed, [string]>(READ, [effect.callId])) ?? [];
    const happened = { ...effect, committed };
    this.effects.push(happened);
    const problems = problemsOf(happened);
    if (problems.length > 0) this.broken.reject(new Error(`${problems.join(", ")}: ${JSON.stringify(happened)}`));
  }

  async #dieIn(agentRow: string): Promise<void> {
    const dying = this.#dying.get(agentRow);
    if (dying === undefined || (dying.left -= 1) > 0) return;
    this.#dying.delete(agentRow);
    await dying.die();
    await new Promise(() => {});
  }
}

/** The steps that a message asks for, also one in the marks of a reminder. */
const STEPS = /^(?:<system-reminder>\n)?(\[\[.*\]\])(?:\n<\/system-reminder>)?$/s;

/** Makes the calls of the steps that the newest message of the user names, one step after the other. */
export const OBEDIENT: Model = {
  name: "obedient",
  price: null,
  stream: ({ messages }: ModelRequest) => {
    const texts = messages.map(({ role, content }) =>
      role === "user" ? content.find(({ type }) => type === "text") : undefined,
    );
    const asked = texts.findLastIndex((block) => block?.type === "text" && STEPS.test(block.text));
    const block = texts[asked];
    const steps = block?.type === "text" ? (JSON.parse(STEPS.exec(block.text)?.[1] ?? "[]") as (readonly AskedCall[])[]) : [];
    const made = messages
      .slice(asked)
      .filter(({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"));
    const step = steps[made.length];
    return step === undefined ? says("Done.") : callsWith(...step.map(({ tool, input }) => [tool, input] as const));
  },
};

/** A hook that does with a call what its input says. */
export function obedience(): (call: HookCall) => PreToolUseAnswer {
  /** The calls that were let through once, by their agents and inputs. */
  const passed = new Map<string, string>();
  return ({ agentId, callId, name, input }) => {
    const asked = { tool: name, input } as unknown as AskedCall;
    const hook = asked.tool === "bash_run" ? asked.input.env.HOOK : asked.input.hook;
    switch (hook) {
      case "none":
        return undefined;
      case "ask":
      case "deny":
        return { decision: hook, reason: "as it was asked" };
      case "input":
        return rewritten(asked);
      case "result":
        return { result: { output: "of a hook", details: null } };
      case "once": {
        const key = JSON.stringify([agentId, name, input]);
        if (!passed.has(key)) passed.set(key, callId);
        return passed.get(key) === callId ? undefined : { decision: "deny", reason: "not again" };
      }
    }
  };
}

function rewritten(asked: AskedCall): PreToolUseAnswer {
  if (asked.tool !== "bash_run") {
    const { n, hook } = asked.input;
    return n < 10 ? { input: { n: n + 10, hook } } : undefined;
  }
  const { env, ...shell } = asked.input;
  return env.NAME.endsWith("-rewritten") ? undefined : { input: { ...shell, env: { ...env, NAME: `${env.NAME}-rewritten` } } };
}

/** The hash of a call as DESIGN.md tells it: RFC 8785 over all that decides what will run. */
function hashOf({ callId, tool, input, committed }: Effect): string {
  const form = {
    agent: committed?.agentId,
    call: callId,
    input,
    schema: tool === "bash_run" ? bashRun.inputSchema : INPUT_SCHEMA,
    tenant: committed?.tenant,
    tool,
    workspace: committed?.workspace,
  };
  return createHash("sha256")
    .update(canonicalize(form) ?? "")
    .digest("hex");
}

/** The states in which a call may take effect, by the kind of the effect. */
const STATES: Readonly<Record<Effect["kind"], readonly string[]>> = {
  run: ["EXECUTING"],
  background: ["EXECUTING", "COMPLETED", "FAILED", "SEALED"],
  given: ["COMPLETED"],
  client: ["WAITING"],
};

/** The problems of an effect: it was not committed before as what it is, or nobody allowed it. */
function problemsOf(effect: Effect): string[] {
  const { committed } = effect;
  if (committed === undefined) return ["its call is not committed"];
  const { state, hash, verdict, hookVerdict, stages, startedAt, allowed, input } = committed;
  const verdicts = new Set([verdict, hookVerdict]);
  const passed = stages.filter((one) => one.startedAt !== null && startedAt !== null && one.startedAt <= startedAt.getTime());
  const missing = GATE_STAGES.slice(0, 4).filter((stage) => !passed.some((one) => one.stage === stage));
  return [
    ...(STATES[effect.kind].includes(state) ? [] : [`its call is ${state}`]),
    ...(canonicalize(input) === canonicalize(effect.input) ? [] : ["it ran with another input than the one that is committed"]),
    ...(hash === hashOf(effect) ? [] : ["its hash is that of something else"]),
    ...(verdict === null ? ["it has no verdict"] : []),
    ...(verdicts.has("deny") ? ["it was denied"] : []),
    ...(verdicts.has("ask") && !(allowed ?? []).includes(hashOf(effect)) ? ["nobody allowed exactly this"] : []),
    ...missing.map((stage) => `it did not pass ${stage}`),
  ];
}
