import { Interrupt, WakeUp } from "../../lib/signals.ts";
import type { CallView } from "../calls/call.ts";
import { wantEndElsewhere } from "../calls/shells/rows.ts";
import { shownProblem, StorageUnavailable } from "../../db/storage-error.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { Observers } from "../conversation/observers.ts";
import type { Transcript } from "../conversation/transcript.ts";
import type { Model } from "../models/model.ts";
import { isAllowedWorkspace } from "../workspace/roots.ts";
import { eventsOnly } from "./commits/commit.ts";
import { parked, turnEnded } from "./commits/turns.ts";
import { AgentFiles, FolderWait } from "./files/agent-files.ts";
import { release, releaseForLater, type Lease, type Term } from "./lease.ts";
import { hasShellElsewhere, isTurnWanted, nextAction, type Action, type Activity, type Bounds } from "./next-action.ts";
import { Owner } from "./owner.ts";
import { type AgentServices, type Template } from "./scope.ts";
import { templateOf } from "../conversation/agent-template.ts";
import type { Missing } from "../policy/held-template.ts";
import { recover, sealTurn, startTurn } from "./turn.ts";
import { StepRunner } from "./step.ts";
import { ToolCalls } from "./tool-calls.ts";
import { hookedAgent, type AgentView } from "./view.ts";

type Configured = { readonly template: Template; readonly model: Model };

const INTERRUPTED = "a person interrupted the turn";
const ARCHIVED = "the agent was archived while it waited";

/** The reason for which a loop ended: no work left, lease lost, or server closing. */
export type Ending = "parked" | "lost" | "stopped";

/**
 * Advances one agent under one lease: reads its rows, takes the next action, and repeats until it can park. Model calls
 * and tool calls run in the background, so that messages, decisions and interrupts are seen meanwhile. Errors never
 * leave the loop (invariant 9).
 */
export class Loop {
  readonly owner: Owner;
  readonly #services: AgentServices;
  readonly #transcript: Transcript;
  readonly #observers: Observers;
  readonly #files: AgentFiles;
  readonly #folderWait: FolderWait;
  readonly #interrupt = new Interrupt();
  readonly #wakeUp = new WakeUp();
  readonly #calls: ToolCalls;
  readonly #steps: StepRunner;
  #answering: Promise<void> | null = null;
  /** The length of the conversation at the last call of the hooks; null before the first. */
  #shownLength: number | null = null;
  #configured: Configured | Missing | null = null;
  #isStopping = false;
  #isTakenOver: boolean;
  #hasAskedForShells = false;

  constructor(services: AgentServices, lease: Lease, term: Term) {
    this.#services = services;
    const transcript = services.transcripts.of(services.sql, lease.tenant, lease.agentId);
    const owner = new Owner(services, lease, term, {
      messages: (change) => transcript.committed(change),
      files: (change) => files.committed(change),
    });
    const observers = new Observers(services, owner);
    const files = new AgentFiles(services, { owner, isWriting: () => this.#calls.isWriting });
    const scope = { owner, transcript, observers, files, interrupt: this.#interrupt, wakeUp: this.#wakeUp };
    this.#steps = new StepRunner(services, scope);
    this.#calls = new ToolCalls(services, scope);
    this.#files = files;
    this.#folderWait = new FolderWait(services.folders, owner);
    this.owner = owner;
    this.#isTakenOver = owner.lease.isTakeover;
    this.#transcript = transcript;
    this.#observers = observers;
    owner.lost.addEventListener("abort", () => {
      this.#interrupt.stop();
      this.#wakeUp.wake();
    });
  }

  signalled(): void {
    this.owner.invalidate();
    this.#wakeUp.wake();
  }

  /** Stops for a closing server: nothing new starts, the model call is aborted, running tools may end. */
  stop(): void {
    this.#isStopping = true;
    this.#steps.stop();
    this.#calls.stop();
    this.#wakeUp.wake();
  }

  /** Advances the agent until it parks, or until its lease is lost. Never rejects. */
  async run(): Promise<Ending> {
    const { owner } = this;
    try {
      return await this.#advance();
    } catch (error) {
      this.#services.logger.error(`agent ${owner.lease.agentId} could not be advanced`, error);
      if (!(error instanceof StorageUnavailable)) await this.#giveUp(shownProblem(error));
      return "lost";
    } finally {
      owner.lease.lose();
      await this.#settled();
      await this.#observers.settled();
      this.#calls.discardResults();
      await this.#files.close();
      this.#transcript.invalidate();
    }
  }

  async #advance(): Promise<Ending> {
    const { owner } = this;
    for (;;) {
      // Before the view: a call that ends during the read counts as running, and its wake-up makes the loop read again.
      const times = this.#wakeUp.times;
      const activity = this.#activity();
      if (owner.lost.aborted) return "lost";
      if (this.#isStopping) return this.#leave();
      const view = await owner.view();
      // A release whose answer was lost counts as a lost lease as well.
      if (view.leaseEpoch !== owner.lease.epoch || view.leaseOwner !== this.#services.serverId) return "lost";
      const configured = (this.#configured ??= await this.#configure(view));
      const isParked =
        "missing" in configured
          ? await this.#strand(view, configured.missing)
          : await this.#next(view, activity, times, configured);
      if (isParked) return "parked";
    }
  }

  async #next(view: AgentView, activity: Activity, times: number, { template, model }: Configured): Promise<boolean> {
    if (!(await this.#showMessages(view, template))) return false;
    if (view.state === "READY") this.#isTakenOver = false;
    await this.#endShellsElsewhere(view);
    this.#calls.noticeWaiting(view);
    const action = nextAction(view, activity, this.#bounds(template));
    if (action.kind === "park") return this.#rest(view, template, model, times);
    if (view.knowsFiles && template.watchFiles !== "never") this.#files.begin(view);
    if (asksFolder(action, view) && !(await this.#folderWait.isOver(view, () => this.#wait(times)))) return false;
    const isWaiting = action.kind === "wait" || (action.kind === "start step" && this.#steps.isHeld);
    await (isWaiting ? this.#wait(times) : this.#do(action, view, template, model));
    return false;
  }

  /** Parks once the context needs nothing more. */
  async #rest(view: AgentView, template: Template, model: Model, times: number): Promise<boolean> {
    const rest = await this.#steps.rest(view, template, model);
    if (rest === "done") return this.#park(view);
    if (rest === "running") await this.#wait(times);
    return false;
  }

  /** Asks other servers, once, to end the agent's shells there. Until then only read-only calls start. */
  async #endShellsElsewhere(view: AgentView): Promise<void> {
    const { leases, serverId } = this.#services;
    if (this.#hasAskedForShells || !hasShellElsewhere(view, serverId)) return;
    this.#hasAskedForShells = true;
    await wantEndElsewhere(leases, view.id, serverId);
  }

  async #do(
    action: Exclude<Action, { kind: "park" | "wait" }>,
    view: AgentView,
    template: Template,
    model: Model,
  ): Promise<void> {
    switch (action.kind) {
      case "start turn":
        return startTurn(this.owner, view, template, this.#services.clock.now());
      case "start step":
        return this.#startStep(view, template, model);
      case "judge calls":
        return this.#calls.judge(action.calls, view, template);
      case "execute calls":
        return this.#calls.execute(action.calls, view, template);
      case "cancel calls":
        return this.#calls.cancel(action.calls, template);
      case "resume":
        return this.#resume(view, action.unfinished);
      case "end turn":
        return action.reason === "INTERRUPTED" ? this.#endInterrupted(view) : this.#endTurn(view, action.reason);
    }
  }

  async #resume(view: AgentView, unfinished: readonly CallView[]): Promise<void> {
    const repeatable = await recover(this.#services, this.owner, view, { unfinished, isTakenOver: this.#isTakenOver });
    if (repeatable === null) return;
    this.#isTakenOver = false;
    this.#calls.repeat(repeatable);
  }

  async #startStep(view: AgentView, template: Template, model: Model): Promise<void> {
    this.#calls.discardVerdicts();
    const step = await this.#steps.start(view, template, model);
    if (step === null) return;
    this.#answering = this.owner.guard(step.answer()).finally(() => {
      this.#answering = null;
      this.#wakeUp.wake();
    });
  }

  async #endTurn(view: AgentView, reason: "MAX_STEPS"): Promise<void> {
    await this.owner.commit(turnEnded(this.owner.rebase(view), { reason, note: null }, this.#services.clock.now()));
  }

  async #endInterrupted(before: AgentView): Promise<void> {
    this.#interrupt.stop(before.interruptNote ?? INTERRUPTED);
    await this.#settled();
    this.#interrupt.renew();
    this.#calls.discardVerdicts();
    if (this.owner.lost.aborted) return;
    const view = await this.owner.view();
    // Others may have changed the note while the calls ended.
    const note = view.interruptNote ?? (view.interruptAt === null ? ARCHIVED : INTERRUPTED);
    const modelNote = view.interruptNote === null ? null : `[The turn was interrupted: ${view.interruptNote}]`;
    if (view.state !== "READY")
      await sealTurn(this.#services, this.owner, view, { reason: "INTERRUPTED", note, modelNote, events: [] });
  }

  async #configure({ model: name, workspace, ...agent }: AgentView): Promise<Configured | Missing> {
    const template = await templateOf(this.#services, agent);
    if ("missing" in template) return template;
    const model = this.#services.models.get(name);
    if (model === undefined) return { missing: `the model ${name}` };
    return isAllowedWorkspace(this.#services, workspace)
      ? { template, model }
      : { missing: `a workspace root around ${workspace}` };
  }

  async #strand(view: AgentView, missing: string): Promise<boolean> {
    if (view.state === "READY" && !isTurnWanted(view)) return this.#park(view);
    if (view.state === "READY") startTurn(this.owner, view, null, this.#services.clock.now());
    else {
      const message = `${missing} of this agent is not configured: add it to the configuration and start again`;
      const error: AgentEventBody = { kind: "ERROR", severity: "ERROR", phase: "LIFECYCLE", message, detail: null };
      const resumed: AgentEventBody = { kind: "AGENT_RESUMED", strategy: "CRASH", sealed: [] };
      await sealTurn(this.#services, this.owner, view, {
        reason: "ERROR",
        note: `${missing} is not configured`,
        modelNote: null,
        events: this.#isTakenOver ? [resumed, error] : [error],
      });
    }
    this.#isTakenOver = false;
    return false;
  }

  /** Ends the turn with an error: an internal failure would repeat at every lease. */
  async #giveUp(problem: string): Promise<void> {
    const { owner } = this;
    try {
      this.#interrupt.stop();
      await this.#settled();
      const view = await owner.view();
      const message = `the agent could not be advanced: ${problem}`;
      const failure: AgentEventBody = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: null };
      const isTurn = view.state !== "READY";
      if (isTurn)
        await sealTurn(this.#services, owner, view, { reason: "ERROR", note: problem, modelNote: null, events: [failure] });
      else await owner.commit(eventsOnly(failure));
      owner.lease.lose();
      // A turn that cannot start would fail again right after each claim.
      await (isTurn ? release : releaseForLater)(this.#services.leases, owner.lease);
    } catch (error) {
      this.#services.logger.error(`agent ${owner.lease.agentId} continues when its lease has run out`, error);
    }
  }

  /** Shows the hooks a grown conversation. False if it has not grown after all: read the rows again. */
  async #showMessages(view: AgentView, { hooks, contextMessages }: Template): Promise<boolean> {
    const before = this.#shownLength;
    this.#shownLength = view.transcriptLength;
    // After a takeover it is unknown whether hooks have seen it: they see it again.
    const hasGrown = before === null ? this.#isTakenOver && view.state !== "READY" : before !== view.transcriptLength;
    if (hooks.messagesChanged.length === 0 || !hasGrown) return true;
    if (!(await this.owner.flush())) return false;
    const messages = await (await this.#transcript.window(view, contextMessages)).messages();
    this.#observers.run(hooks.messagesChanged, (hook) => hook(hookedAgent(view), structuredClone(messages)));
    return true;
  }

  /** Gives the agent back if nothing arrived since the view was read (invariant 8). False otherwise. */
  async #park(view: AgentView): Promise<boolean> {
    if (this.#observers.areRunning && !(await this.owner.flush())) return false;
    await this.#observers.settled();
    return this.owner.commit(parked(this.owner.rebase(view)));
  }

  /** Waits for running tools, releases the agent as runnable, and rings for another server. */
  async #leave(): Promise<Ending> {
    const { owner } = this;
    await owner.flush();
    await this.#calls.settled();
    // The model call ends and reports its cost while the lease is still held.
    this.#interrupt.stop();
    await this.#settled();
    await this.#steps.stopCompaction();
    owner.lease.lose();
    await release(this.#services.leases, owner.lease);
    this.#services.bell.ring({ tenant: owner.lease.tenant, isSignal: true });
    return "stopped";
  }

  async #settled(): Promise<void> {
    await Promise.all([this.#calls.settled(), this.#answering]);
  }

  async #wait(times: number): Promise<void> {
    await this.owner.flush();
    if (this.#wakeUp.times === times && this.owner.isKnown) await this.#wakeUp.next();
  }

  #activity(): Activity {
    return {
      serverId: this.#services.serverId,
      isModelRunning: this.#answering !== null,
      isJudging: this.#calls.isJudging,
      runningCalls: this.#calls.running,
      endingCalls: this.#calls.ending,
      readyCalls: this.#calls.ready,
      heldCalls: this.#calls.held,
      repeatableCalls: this.#calls.repeatable,
      isTakenOver: this.#isTakenOver,
    };
  }

  #bounds({ maxSteps, toolConcurrency }: Template): Bounds {
    return { maxSteps, toolConcurrency, isExclusive: (name) => this.#services.tools.get(name)?.readOnly !== true };
  }
}

function asksFolder({ kind }: Action, { knowsFiles }: AgentView): boolean {
  return kind === "judge calls" || (kind === "start step" && knowsFiles);
}
