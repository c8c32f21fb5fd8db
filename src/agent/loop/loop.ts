import type { CallView } from "../calls/call.ts";
import { wantEndElsewhere } from "../calls/shells/rows.ts";
import { shownProblem } from "../../db/error-class.ts";
import { StorageUnavailable } from "../../db/storage-error.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { Observers } from "../conversation/observers.ts";
import type { Transcript } from "../conversation/transcript.ts";
import type { Model } from "../models/model.ts";
import { isAllowedWorkspace } from "../workspace/roots.ts";
import { said } from "./commits/commit.ts";
import { parked } from "./commits/parked.ts";
import { AgentFiles } from "./files/agent-files.ts";
import { FolderWait } from "./files/folder-wait.ts";
import { turnEnded } from "./commits/turn-ended.ts";
import { Interrupt, WakeUp } from "./signals.ts";
import { release, releaseForLater, type Lease, type Term } from "./lease.ts";
import { hasShellElsewhere, nextAction, type Action, type Activity, type Bounds } from "./next-action.ts";
import { Owner } from "./owner.ts";
import type { AgentServices } from "./services.ts";
import { recover } from "./recovery.ts";
import { StepRunner } from "./step.ts";
import { templateOf, type Missing, type Template } from "./template.ts";
import { ToolCalls } from "./tool-calls.ts";
import { sealTurn, startTurn } from "./turn.ts";
import { hookedAgent, type AgentView } from "./view.ts";

/** The template and the model of an agent. */
type Configured = { readonly template: Template; readonly model: Model };

/** The note of an interrupt that came without one. */
const INTERRUPTED = "a person interrupted the turn";

/** The end of an agent's advancing: nothing is left to do, the lease is another's, or the server is closing. */
export type Ending = "parked" | "lost" | "stopped";

/**
 * Advances one agent under one lease: looks at its rows, does the next thing, and looks again, until it can park.
 * Model calls and tool calls run in the background, so that messages, decisions and interrupts are seen meanwhile.
 * Nothing throws out of it (invariant 9).
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
  /** The model call that is under way. */
  #answering: Promise<void> | null = null;
  /** The length of the conversation when hooks were last shown it; null before the first look. */
  #shownLength: number | null = null;
  /** The agent's template and model: neither its row nor the configuration changes while it is held. */
  #configured: Configured | Missing | null = null;
  #isStopping = false;
  #isTakenOver: boolean;
  #hasAskedForShells = false;

  /** `term` is that of the claim. */
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

  /** Something was committed for the agent by others: its rows are read again. */
  signalled(): void {
    this.owner.forget();
    this.#wakeUp.wake();
  }

  /** The server closes: nothing new starts, the model call is given up, running tools may end. */
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
      this.#calls.forgetResults();
      await this.#files.close();
      this.#transcript.forget();
    }
  }

  async #advance(): Promise<Ending> {
    const { owner } = this;
    for (;;) {
      // Before the view: what ends while it is read counts as running, and its wake-up makes the loop look again.
      const times = this.#wakeUp.times;
      const activity = this.#activity();
      if (owner.lost.aborted) return "lost";
      if (this.#isStopping) return this.#leave();
      const view = await owner.view();
      // Given back by a commit whose answer was lost counts as lost, too.
      if (view.leaseEpoch !== owner.lease.epoch || view.leaseOwner !== this.#services.serverId) return "lost";
      const configured = (this.#configured ??= this.#configure(view));
      const isParked =
        "missing" in configured
          ? await this.#strand(view, configured.missing)
          : await this.#next(view, activity, times, configured);
      if (isParked) return "parked";
    }
  }

  /** Does the next thing for the agent. True if that was to park. */
  async #next(view: AgentView, activity: Activity, times: number, { template, model }: Configured): Promise<boolean> {
    if (!(await this.#showMessages(view, template))) return false;
    if (view.state === "READY") this.#isTakenOver = false;
    await this.#endShellsElsewhere(view);
    const action = nextAction(view, activity, this.#bounds(template));
    if (action.kind === "park") return this.#park(view);
    if (view.knowsFiles) this.#files.begin(view);
    if (asksFolder(action, view) && !(await this.#folderWait.isOver(view, () => this.#wait(times)))) return false;
    await (action.kind === "wait" ? this.#wait(times) : this.#do(action, view, template, model));
    return false;
  }

  /** Asks other servers, once, to end what the agent left running there: until then nothing that is not read-only starts. */
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
        return startTurn(this.owner, view, this.#services.clock.now());
      case "start step":
        return this.#startStep(view, template, model);
      case "judge calls":
        return this.#calls.judge(action.calls, view, template);
      case "execute calls":
        return this.#calls.execute(action.calls, view, template);
      case "cancel calls":
        return this.#calls.cancel(action.calls, template);
      case "resume":
        return this.#resume(view, action.orphans);
      case "end turn":
        return action.reason === "INTERRUPTED" ? this.#endInterrupted(view) : this.#endTurn(view, action.reason);
    }
  }

  async #resume(view: AgentView, orphans: readonly CallView[]): Promise<void> {
    const repeatable = await recover(this.#services, this.owner, view, { orphans, isTakenOver: this.#isTakenOver });
    if (repeatable === null) return;
    this.#isTakenOver = false;
    this.#calls.repeat(repeatable);
  }

  /** Begins a step, and lets its model answer in the background. */
  async #startStep(view: AgentView, template: Template, model: Model): Promise<void> {
    this.#calls.forgetReady();
    const step = await this.#steps.start(view, template, model);
    if (step === null) return;
    this.#answering = this.owner.guard(step.answer()).finally(() => {
      this.#answering = null;
      this.#wakeUp.wake();
    });
  }

  async #endTurn(view: AgentView, reason: "MAX_STEPS"): Promise<void> {
    await this.owner.commit(turnEnded(this.owner.current(view), { reason, note: null }, this.#services.clock.now()));
  }

  /** Stops what is under way, seals what is still open, and ends the turn. */
  async #endInterrupted(before: AgentView): Promise<void> {
    this.#interrupt.stop(before.interruptNote ?? INTERRUPTED);
    await this.#settled();
    this.#interrupt.renew();
    this.#calls.forgetReady();
    if (this.owner.lost.aborted) return;
    const view = await this.owner.view();
    // Others may have said more while the calls ended.
    const note = view.interruptNote ?? INTERRUPTED;
    const told = view.interruptNote === null ? null : `[The turn was interrupted: ${view.interruptNote}]`;
    if (view.state !== "READY")
      await sealTurn(this.#services, this.owner, view, { reason: "INTERRUPTED", note, told, events: [] });
  }

  /** The agent's template and model, or which of them is no longer configured. */
  #configure({ model: name, workspace, ...agent }: AgentView): Configured | Missing {
    const template = templateOf(this.#services, agent);
    if ("missing" in template) return template;
    const model = this.#services.models.get(name);
    if (model === undefined) return { missing: `the model ${name}` };
    return isAllowedWorkspace(this.#services, workspace)
      ? { template, model }
      : { missing: `a workspace root around ${workspace}` };
  }

  /** Ends the turn of an agent of which a part is no longer configured. True if the agent was parked. */
  async #strand(view: AgentView, missing: string): Promise<boolean> {
    if (view.state === "READY" && view.waiting.length === 0 && view.retryTurn === null) return this.#park(view);
    if (view.state === "READY") startTurn(this.owner, view, this.#services.clock.now());
    else {
      const message = `${missing} of this agent is not configured: add it to the configuration and start again`;
      const error: AgentEventBody = { kind: "ERROR", severity: "ERROR", phase: "LIFECYCLE", message, detail: null };
      const resumed: AgentEventBody = { kind: "AGENT_RESUMED", strategy: "CRASH", sealed: [] };
      await sealTurn(this.#services, this.owner, view, {
        reason: "ERROR",
        note: `${missing} is not configured`,
        told: null,
        events: this.#isTakenOver ? [resumed, error] : [error],
      });
    }
    this.#isTakenOver = false;
    return false;
  }

  /** A turn that fails once for a reason of its own would fail again at every lease: it ends with an error instead. */
  async #giveUp(problem: string): Promise<void> {
    const { owner } = this;
    try {
      this.#interrupt.stop();
      await this.#settled();
      const view = await owner.view();
      const message = `the agent could not be advanced: ${problem}`;
      const failure: AgentEventBody = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: null };
      const isTurn = view.state !== "READY";
      if (isTurn) await sealTurn(this.#services, owner, view, { reason: "ERROR", note: problem, told: null, events: [failure] });
      else await owner.commit(said(failure));
      owner.lease.lose();
      // A turn that cannot even be started would fail again at once, as often as it was claimed.
      await (isTurn ? release : releaseForLater)(this.#services.leases, owner.lease);
    } catch (error) {
      this.#services.logger.error(`agent ${owner.lease.agentId} goes on when its lease has run out`, error);
    }
  }

  /** Shows the hooks a conversation that has grown. False if it has not grown after all: look again. */
  async #showMessages(view: AgentView, { hooks, contextMessages }: Template): Promise<boolean> {
    const before = this.#shownLength;
    this.#shownLength = view.transcriptLength;
    // Whether hooks were shown what an owner left that is gone, nobody knows: it is shown again.
    const hasGrown = before === null ? this.#isTakenOver && view.state !== "READY" : before !== view.transcriptLength;
    if (hooks.messagesChanged.length === 0 || !hasGrown) return true;
    if (!(await this.owner.flush())) return false;
    const messages = await (await this.#transcript.window(view, contextMessages)).messages();
    this.#observers.run(hooks.messagesChanged, (hook) => hook(hookedAgent(view), structuredClone(messages)));
    return true;
  }

  /** Gives the agent back if nothing arrived since the view was read (invariant 8). False if something did. */
  async #park(view: AgentView): Promise<boolean> {
    if (this.#observers.areRunning && !(await this.owner.flush())) return false;
    await this.#observers.settled();
    return this.owner.commit(parked(this.owner.current(view)));
  }

  /** Lets running tools end, then gives the agent back, runnable, and rings for another server. */
  async #leave(): Promise<Ending> {
    const { owner } = this;
    await owner.flush();
    await this.#calls.settled();
    // A model call breaks off, and says what it cost, while the lease is still held.
    this.#interrupt.stop();
    await this.#settled();
    owner.lease.lose();
    await release(this.#services.leases, owner.lease);
    this.#services.bell.ring({ tenant: owner.lease.tenant, isSignal: true });
    return "stopped";
  }

  async #settled(): Promise<void> {
    await Promise.all([this.#calls.settled(), this.#answering]);
  }

  /** Resolves when the loop was woken since it counted `times`, or when the rows must be read again. */
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

/** True if an action looks at the agent's folder. What is judged starts at once. */
function asksFolder({ kind }: Action, { knowsFiles }: AgentView): boolean {
  return kind === "judge calls" || (kind === "start step" && knowsFiles);
}
