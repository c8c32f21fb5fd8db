import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { median } from "../../tests/support/median.ts";
import { ask, createAgent, sendMessage } from "../client.ts";
import type { Figure } from "../figure.ts";
import { startServerProcess, type ServerProcess } from "../server-process.ts";
import type { Seen } from "./provider.ts";
import { CHILD, FACT, FILE, MEMORY_PATH, messageOf, recalledAt, TODO, type Conversation, type Summariser } from "./script.ts";

const TURNS = 10_000;
const WINDOW = 200_000;
/** The memory is measured after these shares of the turns. */
const MEASURED_AT = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
/** Requests of steps that are proved at the end. */
const PROVED = 200;

/** The measures of a conversation, and its faults in words: there must be none. */
export type Measured = {
  readonly faults: readonly string[];
  readonly seen: Seen;
  readonly compactions: Readonly<Record<string, number>>;
  readonly heap: readonly number[];
  readonly resident: readonly number[];
  readonly times: readonly number[];
};

/**
 * A conversation of 10,000 turns with a model of 200,000 tokens, whose provider is as strict as Anthropic's: errors, facts that
 * must be in requests, requests that are proved, the prompt cache, and the memory and time of the server.
 */
export async function long(url: string, summariser: Summariser, turns = TURNS): Promise<Figure[]> {
  const { faults, seen, compactions, heap, resident, times } = await converse(url, summariser, { turns, window: WINDOW });
  for (const fault of faults.slice(0, 20)) console.error(fault);
  const prefix = summariser === "keeps" ? "long" : "long-forgetful";
  const alone = (name: string, value: number, unit: string): Figure => ({
    name: `${prefix}, ${name}`,
    value,
    unit,
    baseline: null,
    ratio: null,
  });
  const against = (name: string, value: number, baseline: number, unit: string): Figure => ({
    ...alone(name, value, unit),
    baseline,
    ratio: value / baseline,
  });
  console.error(`MB of heap after each tenth: ${inMb(heap)}; resident: ${inMb(resident)}`);
  const [early = NaN, , , , half = NaN] = heap;
  const [residentEarly = NaN, , , , residentHalf = NaN] = resident;
  const [late = NaN, residentLate = NaN] = [heap.at(-1), resident.at(-1)];
  const tenth = Math.ceil(turns / 10);
  const applied = Object.values(compactions).reduce((sum, count) => sum + count, 0);
  return [
    alone("turns", turns, `turns, ${seen.requests} requests, ${seen.summaries} summaries`),
    alone("faults", faults.length, "faults"),
    alone("compactions", applied, `compactions: ${JSON.stringify(compactions)}`),
    alone("longest request", seen.longest, "tokens"),
    alone("cached share", (100 * seen.cached) / seen.tokens, "% of the tokens of requests"),
    against("broken cache", seen.breaks, applied, "requests that do not begin with the one before, against compactions"),
    against("heap, half", half / 1e6, early / 1e6, "MB, against the one after a tenth"),
    against("heap", late / 1e6, early / 1e6, "MB, against the one after a tenth"),
    against("resident, half", residentHalf / 1e6, residentEarly / 1e6, "MB, against the one after a tenth"),
    against("resident", residentLate / 1e6, residentEarly / 1e6, "MB, against the one after a tenth"),
    alone("first turns", median(times.slice(0, Math.min(100, tenth))), "ms a turn"),
    against(
      "turn",
      median(times.slice(-tenth)),
      median(times.slice(tenth, 2 * tenth)),
      "ms a turn, the last tenth against the second",
    ),
  ];
}

function inMb(bytes: readonly number[]): string {
  return bytes.map((each) => Math.round(each / 1e6)).join(" ");
}

/** Has the conversation on servers of its own. */
export async function converse(url: string, summariser: Summariser, conversation: Conversation): Promise<Measured> {
  const { turns, window } = conversation;
  const provider = await startServerProcess("long/provider.ts", summariser, String(window));
  const server = await startServerProcess("long/server.ts", url, `http://127.0.0.1:${provider.port}`, String(window));
  try {
    const agentId = await createAgent(server.port, "long");
    const talk = await talkWith(server.port, agentId);
    const told = async <Told>(path: string): Promise<Told> =>
      (await (await fetch(`http://127.0.0.1:${provider.port}/${path}`)).json()) as Told;
    const times: number[] = [];
    const memory: { readonly heap: number; readonly resident: number }[] = [];
    const measuredAt = new Set(MEASURED_AT.map((share) => Math.round(turns * share)));
    for (let turn = 1; turn <= turns; turn += 1) {
      if (turn === recalledAt(conversation)) talk.faults.push(...missingRows(JSON.stringify(await told("newest"))));
      times.push(await talk.turn(messageOf(turn, conversation), "COMPLETED"));
      if (turn === recalledAt(conversation)) talk.faults.push(...missingFact(await told("newest"), summariser));
      if (measuredAt.has(turn)) memory.push(await memoryOf(server));
    }
    const seen = await told<Seen>("seen");
    const compactions = { ...talk.compactions };
    if (seen.tooLong > 0) talk.faults.push(`${seen.tooLong} requests were too long`);
    talk.faults.push(...talk.errors.splice(0), ...(await unproved(server.port, agentId, talk.step())));
    talk.faults.push(...(await tooLarge(talk, conversation)));
    talk.faults.push(...(await told<Seen>("seen")).refusals);
    await talk.end();
    return {
      faults: talk.faults,
      seen,
      compactions,
      heap: memory.map(({ heap }) => heap),
      resident: memory.map(({ resident }) => resident),
      times,
    };
  } finally {
    await server.stop();
    await provider.stop();
  }
}

async function memoryOf(server: ServerProcess): Promise<{ readonly heap: number; readonly resident: number }> {
  return { heap: await server.memory(), resident: await server.resident() };
}

type Event = {
  readonly kind: string;
  readonly reason?: string;
  readonly step?: number;
  readonly message?: string | null;
  readonly detail?: string | null;
  readonly compressionPhase?: string;
  readonly method?: string;
  readonly failureReason?: string | null;
  readonly approval?: { readonly id: string; readonly inputHash: string } | null;
};

type Talk = Awaited<ReturnType<typeof talkWith>>;

/** The conversation with an agent, over one subscription. */
async function talkWith(port: number, agentId: string) {
  const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket });
  const pages = client.iterate<{ timeline: { events: readonly Event[] } }>({
    query:
      "subscription ($agentId: ID!) { timeline(agentIds: [$agentId], kinds: [DONE, ERROR, CONTEXT_COMPRESSION, PERMISSION_REQUIRED]) { events { kind ... on Done { reason step } ... on ErrorRaised { message detail } ... on ContextCompression { compressionPhase method failureReason } ... on PermissionRequired { approval { id inputHash } } } } }",
    variables: { agentId },
  });
  await pages.next();
  const faults: string[] = [];
  const errors: string[] = [];
  const compactions: Record<string, number> = {};
  let step = 0;

  async function take(event: Event, wanted: string): Promise<void> {
    if (event.kind === "ERROR") errors.push(`an error after step ${step}: ${event.detail ?? ""} ${event.message ?? ""}`);
    if (event.kind === "PERMISSION_REQUIRED" && event.approval) await allow(port, event.approval);
    if (event.compressionPhase === "END" && event.method !== undefined) {
      const name = event.failureReason == null ? event.method : `${event.method} failed`;
      compactions[name] = (compactions[name] ?? 0) + 1;
    }
    if (event.kind !== "DONE") return;
    step = event.step ?? step;
    if (event.reason !== wanted) faults.push(`the turn of step ${step} has ended with ${event.reason ?? ""}, not ${wanted}`);
  }

  return {
    faults,
    errors,
    compactions,
    step: () => step,
    /** The time of a turn, in ms. */
    async turn(text: string, wanted: "COMPLETED" | "ERROR"): Promise<number> {
      const began = performance.now();
      await sendMessage(port, agentId, text);
      for (let isDone = false; !isDone;) {
        const { value } = (await pages.next()) as { value: { data: { timeline: { events: readonly Event[] } } } };
        for (const event of value.data.timeline.events) await take(event, wanted);
        isDone = value.data.timeline.events.some(({ kind }) => kind === "DONE");
      }
      return performance.now() - began;
    },
    end: () => client.dispose(),
  };
}

async function allow(port: number, { id, inputHash }: NonNullable<Event["approval"]>): Promise<void> {
  await ask(port, "mutation ($input: DecideApprovalInput!) { decideApproval(input: $input) { userErrors { message } } }", {
    input: { approvalId: id, inputHash, decision: "ALLOW" },
  });
}

/** The rows of the agent that are not in a request. */
function missingRows(request: string): readonly string[] {
  const rows = [`[in_progress] ${TODO}`, "deploy (call toolu_", `${FILE} (`, CHILD, MEMORY_PATH];
  return rows.filter((row) => !request.includes(row)).map((row) => `the request before the recall is without "${row}"`);
}

/** The fact of turn 10 stands in a result of memory, and in the summary if the summariser keeps facts. */
function missingFact(body: { readonly messages?: readonly object[] }, summariser: Summariser): readonly string[] {
  const { messages = [] } = body;
  const summary = JSON.stringify(messages[0] ?? {});
  return [
    ...(JSON.stringify(messages.at(-1) ?? {}).includes(FACT) ? [] : ["the result of memory is without the fact"]),
    ...(summary.includes(FACT) === (summariser === "keeps") ? [] : [`the summary of one that ${summariser} is not as expected`]),
  ];
}

/** The steps of PROVED random ones whose request is not proved. */
async function unproved(port: number, agentId: string, steps: number): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let index = 0; index < PROVED; index += 1) {
    const step = 1 + Math.floor(((index + Math.random()) * steps) / PROVED);
    const { agent } = await ask<{ agent: { contextAt: { isProved: boolean; missing: readonly unknown[] } | null } }>(
      port,
      "query ($agentId: ID!, $step: Int!) { agent(id: $agentId) { contextAt(step: $step) { isProved missing } } }",
      { agentId, step },
    );
    if (agent.contextAt?.isProved !== true)
      faults.push(`the request of step ${step} of ${steps} is not proved: ${JSON.stringify(agent.contextAt)}`);
  }
  return faults;
}

/** A turn whose input is larger than the window ends with an error that says so, and the next one is as any other. */
async function tooLarge(talk: Talk, { turns, window }: Conversation): Promise<readonly string[]> {
  await talk.turn(`turn ${turns + 1}: talk. ${"m".repeat(4.4 * window)}`, "ERROR");
  const said =
    /The system prompt has about \d+ tokens, the tools have about \d+ tokens, and the newest input has about \d+ tokens/;
  const isSaid = talk.errors.some((error) => error.includes("too_long") && said.test(error));
  const faults = isSaid ? [] : [`a turn that is too large says: ${talk.errors.join("; ")}`];
  talk.errors.length = 0;
  await talk.turn(`turn ${turns + 2}: talk.`, "COMPLETED");
  return faults;
}
