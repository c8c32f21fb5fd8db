import { shownProblem } from "../db/error-class.ts";
import { StorageUnavailable } from "../db/sql.ts";
import type { EventBody } from "../events/event.ts";
import type { Deadline } from "../lib/deadline.ts";
import { Calls, type Beside } from "./calls.ts";
import { Hold, type Entry } from "./hold.ts";
import { HooksBeside } from "./hooks-beside.ts";
import { release, releaseForLater, type Lease } from "./lease.ts";
import type { Look } from "./look.ts";
import type { Model } from "./models/model.ts";
import { nextAction, type Action, type Activity, type Bounds } from "./next-action.ts";
import type { AgentParts } from "./parts.ts";
import { Steps } from "./steps.ts";
import type { Template } from "./template.ts";
import type { Transcript } from "./transcript.ts";
import { Turns } from "./turns.ts";
import { isAllowedWorkspace } from "./workspace-roots.ts";

/** What an agent works with. */
type Configured = { readonly template: Template; readonly model: Model };

/** How the advancing of an agent ended: nothing left to do, the lease is another's, or the node is closing. */
export type Ending = "parked" | "lost" | "stopped";

/**
 * Advances one agent under one lease: looks at its rows, does the next thing, and looks again, until it can park. What
 * it has written itself it does not read again.
 * Model calls and tool calls run beside it, so that messages, decisions and interrupts are seen meanwhile.
 * Nothing throws out of it (invariant 9).
 */
export class Loop {
  readonly hold: Hold;
  readonly #parts: AgentParts;
  readonly #turns: Turns;
  readonly #calls: Calls;
  readonly #steps: Steps;
  readonly #transcript: Transcript;
  readonly #hooks: HooksBeside;
  /** How long the conversation was when hooks were last shown it. */
  #shownLength = -1;
  #interrupt = new AbortController();
  #isStopping = false;
  #isWaiting = false;
  #knocks = 0;
  #answerKnock: () => void = () => {};

  /** Until `startUntil` the lease allows new work to start. */
  constructor(parts: AgentParts, lease: Lease, startUntil: Deadline) {
    this.#parts = parts;
    this.hold = new Hold(parts, lease, startUntil);
    const transcript = parts.transcripts.of(parts.sql, lease.tenant, lease.agentId);
    this.#transcript = transcript;
    this.#hooks = new HooksBeside(parts, this.hold);
    const beside: Beside = {
      interrupt: () => this.#interrupt.signal,
      knock: () => this.knock(),
      offer: (entry) => this.#take(entry),
      hooks: this.#hooks,
    };
    this.#turns = new Turns(parts, this.hold, transcript);
    this.#steps = new Steps(parts, this.hold, transcript, this.#turns, beside);
    this.#calls = new Calls(parts, this.hold, beside);
    this.hold.lost.addEventListener("abort", () => {
      this.#interrupt.abort();
      this.knock();
    });
  }

  /** Makes the loop look at the rows again. */
  knock(): void {
    this.#knocks += 1;
    this.#isWaiting = false;
    this.#answerKnock();
  }

  /** Commits what ended beside the loop with what it does next, where it waits for that. False where it is busy. */
  #take(entry: Entry): boolean {
    if (this.#isWaiting) this.hold.keep(entry);
    return this.#isWaiting;
  }

  /** Something was committed for the agent by others: its rows are read again. */
  signalled(): void {
    this.hold.forget();
    this.knock();
  }

  /** The node closes: nothing new starts, the model call is given up, running tools may end. */
  stop(): void {
    this.#isStopping = true;
    this.#steps.stop();
    this.#calls.stop();
    this.knock();
  }

  /** Advances the agent until it parks, or until its lease is lost. Never rejects. */
  async run(): Promise<Ending> {
    try {
      return await this.#advance();
    } catch (error) {
      this.#parts.logger.error(`agent ${this.hold.lease.agentId} could not be advanced`, error);
      if (!(error instanceof StorageUnavailable)) await this.#giveUp(shownProblem(error));
      return "lost";
    } finally {
      this.hold.lose();
      await this.#settled();
      await this.#hooks.settled();
      this.#transcript.forget();
    }
  }

  /** What fails once for a reason of its own would fail again at every lease: the turn ends with an error instead. */
  async #giveUp(problem: string): Promise<void> {
    try {
      this.#interrupt.abort();
      await this.#settled();
      const now = await this.hold.look();
      const message = `the agent could not be advanced: ${problem}`;
      const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: null };
      const isTurn = now.state !== "READY";
      if (isTurn) await this.#turns.sealAndEnd(now, "ERROR", problem, [failure]);
      else await this.hold.commit({}, [failure]);
      this.hold.lose();
      // A turn that cannot even be started would fail again at once, as often as it was claimed.
      await (isTurn ? release : releaseForLater)(this.#parts.leases, this.hold.lease);
    } catch (error) {
      this.#parts.logger.error(`agent ${this.hold.lease.agentId} goes on when its lease has run out`, error);
    }
  }

  async #advance(): Promise<Ending> {
    for (;;) {
      const seen = this.#knocks;
      // Before the look: what ends while it is under way counts as running, and its knock makes the loop look again.
      const activity = this.#activity();
      if (this.hold.lost.aborted) return "lost";
      if (this.#isStopping) return this.#leave();
      const now = await this.hold.look();
      // Given back by a commit whose answer was lost counts as lost, too.
      if (now.leaseEpoch !== this.hold.lease.epoch || now.leaseOwner !== this.#parts.node) return "lost";
      const configured = this.#configured(now);
      const isParked =
        "missing" in configured ? await this.#strand(now, configured.missing) : await this.#next(now, activity, seen, configured);
      if (isParked) return "parked";
    }
  }

  /** Does the next thing for the agent. True where that was to park. */
  async #next(now: Look, activity: Activity, seen: number, { template, model }: Configured): Promise<boolean> {
    if (!(await this.#showMessages(now, template))) return false;
    const action = nextAction(now, activity, this.#bounds(template));
    if (action.kind === "park") return this.#park(now);
    await (action.kind === "wait" ? this.#wait(seen) : this.#do(action, now, template, model));
    return false;
  }

  /** Shows the hooks a conversation that has grown. False where it has not grown after all: look again. */
  async #showMessages(now: Look, { hooks, contextMessages }: Template): Promise<boolean> {
    const before = this.#shownLength;
    this.#shownLength = now.transcriptLength;
    if (hooks.messagesChanged.length === 0 || before < 0 || before === now.transcriptLength) return true;
    if (!(await this.hold.storeKept())) return false;
    const messages = structuredClone(await this.#transcript.modelMessages(now, contextMessages));
    this.#hooks.run(hooks.messagesChanged, (hook) => hook(now.id, messages));
    return true;
  }

  /** What the agent works with, or what of it the configuration does not have any more. */
  #configured({ templateId, model: name, workspace }: Look): Configured | { readonly missing: string } {
    const template = this.#parts.templates.get(templateId);
    if (template === undefined) return { missing: `the template ${templateId}` };
    const model = this.#parts.models.get(name);
    if (model === undefined) return { missing: `the model ${name}` };
    return isAllowedWorkspace(this.#parts, workspace) ? { template, model } : { missing: `a workspace root around ${workspace}` };
  }

  async #do(action: Exclude<Action, { kind: "park" | "wait" }>, now: Look, template: Template, model: Model): Promise<void> {
    switch (action.kind) {
      case "start turn":
        return this.#turns.start(now);
      case "start step":
        this.#calls.forgetReady();
        return this.#steps.start(now, template, model);
      case "judge calls":
        return this.#calls.judge(action.calls, now, template);
      case "execute calls":
        return this.#calls.execute(action.calls, now, template);
      case "resume":
        return this.#calls.repeat(await this.#turns.resume(action.orphans, now));
      case "end turn":
        return action.reason === "INTERRUPTED" ? this.#endInterrupted(now) : this.#turns.end(now, action.reason, {}, []);
    }
  }

  #activity(): Activity {
    return {
      isModelRunning: this.#steps.isRunning,
      isJudging: this.#calls.isJudging,
      runningCalls: this.#calls.running,
      readyCalls: this.#calls.ready,
      repeatableCalls: this.#calls.repeatable,
    };
  }

  #bounds({ maxSteps, toolConcurrency }: Template): Bounds {
    return { maxSteps, toolConcurrency, isExclusive: (name) => this.#parts.tools.get(name)?.readOnly !== true };
  }

  /** Stops what is under way, seals what is still open, and ends the turn. */
  async #endInterrupted(before: Look): Promise<void> {
    const note = before.interruptNote ?? "a person interrupted the turn";
    this.#interrupt.abort(note);
    await this.#settled();
    this.#interrupt = new AbortController();
    this.#calls.forgetReady();
    if (this.hold.lost.aborted) return;
    const now = await this.hold.look();
    if (now.state !== "READY") await this.#turns.sealAndEnd(now, "INTERRUPTED", note, []);
  }

  /** Ends the turn of an agent of which a part is not configured any more. True where the agent was parked. */
  async #strand(now: Look, missing: string): Promise<boolean> {
    if (now.state === "READY" && now.waiting.length === 0) return this.#park(now);
    if (now.state === "READY") this.#turns.start(now);
    else {
      const message = `${missing} of this agent is not configured: add it to the configuration and start again`;
      const error: EventBody = { kind: "ERROR", severity: "ERROR", phase: "LIFECYCLE", message, detail: null };
      await this.#turns.sealAndEnd(now, "ERROR", `${missing} is not configured`, [error]);
    }
    return false;
  }

  /** Gives the agent back where nothing arrived since the look (invariant 8). False where something did. */
  async #park(now: Look): Promise<boolean> {
    if (this.#hooks.areRunning && !(await this.hold.storeKept())) return false;
    await this.#hooks.settled();
    const moved =
      now.state === "READY" ? { patch: {}, events: [] } : this.hold.move({ state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
    return this.hold.commit(
      { expectSignal: now.signal, agent: { ...moved.patch, runnableAt: null, leaseOwner: null, leaseUntil: null } },
      moved.events,
    );
  }

  /** Lets running tools end, then gives the agent back, runnable, and rings for another node. */
  async #leave(): Promise<Ending> {
    await this.hold.storeKept();
    await this.#calls.settled();
    this.hold.lose();
    await this.#settled();
    await release(this.#parts.leases, this.hold.lease);
    this.#parts.bell.ring({ tenant: this.hold.lease.tenant, isSignal: true });
    return "stopped";
  }

  async #settled(): Promise<void> {
    await Promise.all([this.#calls.settled(), this.#steps.settled()]);
  }

  /** Resolves when somebody knocked since `seen`, or when the rows must be read again. */
  async #wait(seen: number): Promise<void> {
    await this.hold.storeKept();
    if (this.#knocks !== seen || !this.hold.isKnown) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answerKnock = resolve;
    this.#isWaiting = true;
    await promise;
  }
}
