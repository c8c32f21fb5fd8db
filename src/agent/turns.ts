import { joinChanges, type Change } from "../db/change.ts";
import { openBlocks } from "../events/blocks.ts";
import type { DoneReason, EventBody } from "../events/event.ts";
import { closedEvent, endEvents } from "./call-record.ts";
import { isFinal } from "./gate/refusal.ts";
import type { Entry, Hold } from "./hold.ts";
import type { CallLook, Look } from "./look.ts";
import { afterMessage, afterTurnEnd, afterTurnStart, inOrder } from "./look-after.ts";
import { endOfBlock } from "./model-call.ts";
import { adopt, sealCall } from "./orphans.ts";
import type { AgentParts } from "./parts.ts";
import { joinWaiting, resultsMessage } from "./rows.ts";
import type { Transcript } from "./transcript.ts";

/** More messages than these are not listed in the DONE of their turn, but read from their rows. */
const EVENT_MESSAGE_IDS = 200;

/** Begins and ends the turns of one agent, and picks up one that another owner left. */
export class Turns {
  readonly #parts: AgentParts;
  readonly #hold: Hold;
  readonly #transcript: Transcript;

  constructor(parts: AgentParts, hold: Hold, transcript: Transcript) {
    this.#parts = parts;
    this.#hold = hold;
    this.#transcript = transcript;
  }

  /** The waiting messages join the transcript, to be answered by a new turn: with the first thing that it does. */
  start(now: Look): void {
    const turn = now.turn + 1;
    const joins = joinWaiting(now, turn, now.transcriptLength);
    const moved = this.#hold.move({ state: "WORKING" });
    const transcriptLength = now.transcriptLength + joins.length;
    this.#hold.keep({
      change: { agent: { ...moved.patch, turn, transcriptLength, lastSfpIndex: transcriptLength - 1 }, joins },
      events: moved.events,
      after: afterTurnStart(turn, joins),
      stored: () => this.#transcript.forget(),
      orElse: (problem) => Promise.reject(new Error(`a turn could not be started: ${problem}`)),
    });
  }

  /** Ends the turn with a change of the last step, and the events that report it. */
  async end(now: Look, reason: DoneReason, change: Change, events: readonly EventBody[]): Promise<void> {
    const ending = this.ending(now, reason);
    const isCommitted = await this.#hold.commit(joinChanges([change, ending.change]), [...events, ...ending.events]);
    if (isCommitted) ending.stored();
  }

  /**
   * What ends the turn: one DONE, always, with the messages it answers. Calls of the last step leave their results in the
   * transcript.
   */
  ending(now: Look, reason: DoneReason): Omit<Entry, "orElse"> {
    const results = resultsMessage(now, this.#parts.clock.now());
    const transcriptLength = now.transcriptLength + results.messages.length;
    const moved = this.#hold.move({ state: "READY", breakpoint: "READY" });
    const messageIds = now.turnMessageIds.length > EVENT_MESSAGE_IDS ? null : now.turnMessageIds;
    return {
      change: {
        messages: results.rows,
        agent: { ...moved.patch, transcriptLength, lastSfpIndex: transcriptLength - 1, interruptAt: null, interruptNote: null },
      },
      events: [...moved.events, { kind: "DONE", turn: now.turn, step: now.stepCount, reason, messageIds }],
      after: inOrder(afterMessage(results), afterTurnEnd),
      stored: () => this.#transcript.remember(results.messages),
    };
  }

  /** Closes every call that is still open, seals what was asked, and ends the turn. */
  async sealAndEnd(now: Look, reason: DoneReason, note: string, events: readonly EventBody[]): Promise<void> {
    const at = this.#parts.clock.now();
    const open = now.calls.filter((call) => !isFinal(call.state));
    const steps = open.map((call) => sealCall(call, note, at));
    const calls = now.calls.map((call) => steps.find((step) => step.call.id === call.id)?.call ?? call);
    const asked = open.flatMap(({ id, approval }) => (approval?.state === "PENDING" ? [{ id: approval.id, callId: id }] : []));
    const change: Change = {
      transitions: steps.map((step) => step.transition),
      approvalTransitions: asked.map(({ id }) => ({ id, from: "PENDING", to: "SEALED", closedAt: at })),
      ...(now.lastStep?.state === "STARTED" ? { stepEnd: { step: now.stepCount, state: "ABORTED", completedAt: at } } : {}),
    };
    const texts = await this.#openTexts(now);
    await this.end({ ...now, calls }, reason, change, [
      ...texts,
      ...events,
      ...asked.map(({ id, callId }) => closedEvent(id, callId, "SEALED", note)),
      ...steps.flatMap((step) => endEvents(step.call, this.#parts.templates.get(now.templateId))),
    ]);
  }

  /** Goes on after an owner that died. Gives the calls that may run again. */
  async resume(orphans: readonly CallLook[], now: Look): Promise<readonly string[]> {
    const at = this.#parts.clock.now();
    const template = this.#parts.templates.get(now.templateId);
    const { transitions, approvals, events, sealed, repeatable } = adopt(orphans, now, this.#parts, template, at);
    const isBrokenOff = now.lastStep?.state === "STARTED";
    const texts = await this.#openTexts(now);
    const isCommitted = await this.#hold.commit(
      {
        transitions,
        approvals,
        ...(isBrokenOff ? { stepEnd: { step: now.stepCount, state: "ABORTED", completedAt: at } } : {}),
      },
      [...texts, ...events, { kind: "AGENT_RESUMED", strategy: approvals.length > 0 ? "MANUAL" : "CRASH", sealed }],
    );
    return isCommitted ? repeatable : [];
  }

  /** The ends of the texts that an earlier owner left open. */
  async #openTexts(now: Look): Promise<EventBody[]> {
    if (now.lastStep?.state !== "STARTED") return [];
    const open = await openBlocks(this.#parts.sql, now.id, now.stepCount);
    return open.map((said) => endOfBlock(said, now.stepCount, true));
  }
}
