import DataLoader from "dataloader";
import { readActorNames } from "../agent/actors/actor-names.ts";
import { readApprovals, readSpawners, type FoundApproval } from "../agent/approvals/approval.ts";
import { matchesOfStoredRules, type ExaminedRule, type StoredRuleAsked } from "../agent/calls/audit/rule-matches.ts";
import { readChildCounts } from "../agent/calls/children.ts";
import { readCallsOfSteps, type StepOfAgent } from "../agent/calls/call.ts";
import { readToldTimes, type FileOfAgent } from "../agent/calls/notices.ts";
import { contextAt, type StepContext } from "../agent/conversation/context-at.ts";
import { readContextMeters, type ContextMeter } from "../agent/conversation/context-meter.ts";
import { presentImages } from "../agent/conversation/images.ts";
import type { Transcripts } from "../agent/conversation/transcript.ts";
import { type AgentUsage, readTreeUsage, readUsage } from "../agent/loop/usage.ts";
import { awaitedNodes, readStandstills, waitingFor, type Awaited, type KnownNames } from "../agent/loop/waiting-for.ts";
import type { Sql } from "../db/sql.ts";
import { openBlocksAt, type OpenBlock } from "../events/blocks.ts";
import type { LogHead } from "../events/cursor.ts";
import type { ActorRef } from "../events/snapshots.ts";

/** The most characters of the messages of all requests of steps that one answer reads. */
export const MOST_CHARACTERS = 64 * 1024 * 1024;

type Reads = { readonly reads: Sql; readonly transcripts: Transcripts };

/** The wait of an agent in words, with the questions and agents that they name. */
type NamedWait = { readonly words: string | null; readonly awaited: readonly Awaited[] };

/** Runs one read of a tenant at a time. */
type InTurn = <Result>(tenant: string, read: () => Promise<Result>) => Promise<Result>;

/**
 * Reads that are batched for all rows of an answer. Loaders are created at first use: most answers need none, and a
 * subscription keeps those of its context while it is open.
 */
export class Loaders {
  readonly #reads: Sql;
  readonly #transcripts: Transcripts;
  readonly #inTurn: InTurn;
  readonly #known: KnownNames;
  readonly #tenant: string;
  readonly #snapshot: () => Promise<LogHead>;
  #actorNames: DataLoader<ActorRef, string | null, string> | null = null;
  #approvals: DataLoader<string, FoundApproval | null> | null = null;
  #contexts: DataLoader<string, ContextMeter> | null = null;
  #callsOfSteps: DataLoader<StepOfAgent, ReadonlyMap<string, string>, string> | null = null;
  #images: DataLoader<string, boolean> | null = null;
  #openBlocks: DataLoader<string, readonly OpenBlock[]> | null = null;
  #ruleMatches: DataLoader<StoredRuleAsked, ExaminedRule, string> | null = null;
  #spawners: DataLoader<string, readonly ActorRef[]> | null = null;
  #stepContexts: DataLoader<StepOfAgent, StepContext | "TOO_LARGE" | null, string> | null = null;
  #toldTimes: DataLoader<FileOfAgent, Date | null> | null = null;
  #usage: DataLoader<string, AgentUsage> | null = null;
  #treeUsage: DataLoader<string, AgentUsage> | null = null;
  #standstills: DataLoader<string, NamedWait | null> | null = null;
  #childCounts: DataLoader<string, number> | null = null;

  constructor(
    { reads, transcripts, ...known }: KnownNames & Reads,
    tenant: string,
    snapshot: () => Promise<LogHead>,
    inTurn: InTurn,
  ) {
    this.#reads = reads;
    this.#transcripts = transcripts;
    this.#inTurn = inTurn;
    this.#known = known;
    this.#tenant = tenant;
    this.#snapshot = snapshot;
  }

  /** Discards results: each loader is created again at its next use. */
  clear(): void {
    this.#actorNames = null;
    this.#approvals = null;
    this.#contexts = null;
    this.#callsOfSteps = null;
    this.#images = null;
    this.#openBlocks = null;
    this.#ruleMatches = null;
    this.#spawners = null;
    this.#stepContexts = null;
    this.#toldTimes = null;
    this.#usage = null;
    this.#treeUsage = null;
    this.#standstills = null;
    this.#childCounts = null;
  }

  /** Null for an actor without a name. */
  get actorNames(): DataLoader<ActorRef, string | null, string> {
    return (this.#actorNames ??= new DataLoader(async (actors) => readActorNames(this.#reads, this.#tenant, actors), {
      cacheKeyFn: ({ kind, id }) => `${kind}:${id}`,
    }));
  }

  /** By the row's id; null if there is none. */
  get approvals(): DataLoader<string, FoundApproval | null> {
    return (this.#approvals ??= new DataLoader(async (ids) => {
      const found = new Map((await readApprovals(this.#reads, ids)).map((approval) => [approval.id, approval]));
      return ids.map((id) => found.get(id) ?? null);
    }));
  }

  /** By the agent's row id. */
  get contexts(): DataLoader<string, ContextMeter> {
    return (this.#contexts ??= new DataLoader((agentIds) => readContextMeters(this.#reads, agentIds)));
  }

  get ruleMatches(): DataLoader<StoredRuleAsked, ExaminedRule, string> {
    const inTurn = <Result>(read: () => Promise<Result>): Promise<Result> => this.#inTurn(this.#tenant, read);
    return (this.#ruleMatches ??= new DataLoader((asked) => matchesOfStoredRules(this.#reads, this.#tenant, asked, inTurn), {
      cacheKeyFn: ({ rule, from, to }) => JSON.stringify([rule.place, from, to]),
    }));
  }

  get callsOfSteps(): DataLoader<StepOfAgent, ReadonlyMap<string, string>, string> {
    return (this.#callsOfSteps ??= new DataLoader(async (steps) => readCallsOfSteps(this.#reads, steps), {
      cacheKeyFn: ({ agentId, step }) => `${agentId}:${step}`,
    }));
  }

  /** By the digest: true if the tenant still has the image. */
  get images(): DataLoader<string, boolean> {
    return (this.#images ??= new DataLoader(async (digests) => {
      const present = await presentImages(this.#reads, this.#tenant, digests);
      return digests.map((digest) => present.has(digest));
    }));
  }

  /** By the agent's row id: the unfinished blocks at the snapshot's position. */
  get openBlocks(): DataLoader<string, readonly OpenBlock[]> {
    return (this.#openBlocks ??= new DataLoader(async (agentIds) =>
      openBlocksAt(this.#reads, agentIds, (await this.#snapshot()).position),
    ));
  }

  /** By the agent's row id: who asked for the call that started it. */
  get spawners(): DataLoader<string, readonly ActorRef[]> {
    return (this.#spawners ??= new DataLoader((agentIds) => readSpawners(this.#reads, agentIds)));
  }

  /** The request of a step. Each is read once, one after another; TOO_LARGE for those beyond MOST_CHARACTERS. */
  get stepContexts(): DataLoader<StepOfAgent, StepContext | "TOO_LARGE" | null, string> {
    return (this.#stepContexts ??= this.#newStepContexts());
  }

  #newStepContexts(): DataLoader<StepOfAgent, StepContext | "TOO_LARGE" | null, string> {
    const reads = { sql: this.#reads, transcripts: this.#transcripts };
    let characters = 0;
    const read = async (step: StepOfAgent): Promise<StepContext | "TOO_LARGE" | null> => {
      if (characters > MOST_CHARACTERS) return "TOO_LARGE";
      const found = await contextAt(reads, { tenant: this.#tenant, ...step });
      characters += JSON.stringify(found?.messages ?? []).length;
      return found;
    };
    const readAll = async (steps: readonly StepOfAgent[]) => {
      const found: (StepContext | "TOO_LARGE" | null)[] = [];
      for (const step of steps) found.push(await read(step));
      return found;
    };
    return new DataLoader((steps) => this.#inTurn(this.#tenant, () => readAll(steps)), {
      cacheKeyFn: ({ agentId, step }) => `${agentId}:${step}`,
    });
  }

  /** When the model was told of the newest change of a file; null for one that it was not told of. */
  get toldTimes(): DataLoader<FileOfAgent, Date | null> {
    return (this.#toldTimes ??= new DataLoader((files) => readToldTimes(this.#reads, files)));
  }

  get treeUsage(): DataLoader<string, AgentUsage> {
    return (this.#treeUsage ??= new DataLoader((agentIds) => readTreeUsage(this.#reads, agentIds)));
  }

  get usage(): DataLoader<string, AgentUsage> {
    return (this.#usage ??= new DataLoader((agentIds) => readUsage(this.#reads, agentIds)));
  }

  /** Null for an unknown agent. */
  get standstills(): DataLoader<string, NamedWait | null> {
    return (this.#standstills ??= new DataLoader(async (agentIds) =>
      (await readStandstills(this.#reads, agentIds)).map((standstill) => {
        if (standstill === null) return null;
        const words = waitingFor(standstill, this.#known);
        return { words, awaited: awaitedNodes(standstill).filter(({ name }) => words?.includes(name) === true) };
      }),
    ));
  }

  get childCounts(): DataLoader<string, number> {
    return (this.#childCounts ??= new DataLoader((agentIds) => readChildCounts(this.#reads, agentIds)));
  }
}
