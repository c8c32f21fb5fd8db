import type { AgentEventBody } from "../../events/event.ts";
import type { ChildOutcome } from "../../events/snapshots.ts";
import { accepted } from "../../lib/result.ts";
import { headBytes, marked } from "../../lib/text.ts";
import { isFinal, type SealedChild } from "../calls/call.ts";
import { endOfLater, failedElsewhere, toolOfLater, type LaterEnd } from "../calls/later.ts";
import { notice } from "../calls/notices.ts";
import type { CallServices } from "../calls/scope.ts";
import { templateOf, type Configuration } from "../conversation/agent-template.ts";
import type { Tool } from "../tools/tool.ts";
import { readAwaited, type Awaited, type Child, type ChildOfCall } from "./awaited-child.ts";
import { moveOn, type DueWait } from "./due.ts";
import { makeChild, type ChildTemplate } from "./new-child.ts";
import { NOT_STARTED, notStarted, type NotStarted } from "./unmade-children.ts";

export type ChildServices = Pick<
  CallServices,
  "outputs" | "meters" | "clock" | "logger" | "log" | "sql" | "ownWorkspaces" | "modelOfTemplate"
> &
  Configuration<ChildTemplate> & { readonly tools: ReadonlyMap<string, Tool> };

/**
 * Looks at the wait for a child, and does the next thing between the two agents. It makes the child, returns its end to
 * the call or as a notice, or interrupts a child whose call has ended otherwise. Each is one commit: any server may look
 * at any time.
 */
export async function lookAtChild(services: ChildServices, wait: DueWait): Promise<void> {
  const awaited = await readAwaited(services.sql, wait.id);
  if (awaited === null) return;
  const isBackground = wait.kind === "BACKGROUND_CHILD";
  const isWanted = isBackground || !isFinal(awaited.call.state);
  const { child } = awaited;
  if (child === null) return isWanted ? begin(services, wait, awaited) : settle(services, wait, awaited, [], UNMADE);
  // A person may have begun another turn of it meanwhile.
  const isDead = child.turn === 0 && child.state === "READY" && child.isIdle;
  const hasEnded = isDead || (child.doneReason !== null && (child.state === "READY" || child.turn > 1));
  // The interrupt ends the call, and says so to the model.
  const isSealing = !isBackground && isWanted && awaited.parent.isInterrupted;
  if (hasEnded && isSealing) return void (await moveOn(services, wait, SEALING_MS));
  if (hasEnded) return returnChild(services, wait, awaited, child, isBackground);
  if (!isWanted && !child.isInterrupted) return interruptChild(services, wait, awaited);
  await services.log.commit(
    awaited.tenant,
    { agentId: awaited.agentId, createdBy: awaited.createdBy, events: [] },
    { childAwaited: { ref: wait.ref, due: wait.due } },
  );
}

/** Makes the child. If that is refused, the rows say why. */
async function begin(services: ChildServices, wait: DueWait, awaited: Awaited): Promise<void> {
  const { isArchived, isInterrupted, isTreeArchived } = awaited.parent;
  // Its turn ends, and seals the call.
  const isEnding = wait.kind === "CHILD" && (isArchived || isInterrupted);
  if (isEnding) return void (await moveOn(services, wait, SEALING_MS));
  if (isTreeArchived) return refuseChild(services, wait, awaited, NOT_STARTED.archived);
  if (await makeChild(services, wait, awaited)) return;
  const now = await readAwaited(services.sql, wait.id);
  const isLooked = now === null || now.parent.isTreeArchived || (wait.kind === "CHILD" && isFinal(now.call.state));
  // What has changed meanwhile is for the next look.
  return isLooked ? void (await moveOn(services, wait, 0)) : refuseChild(services, wait, now, NOT_STARTED.full);
}

/** The pause before a wait of a call that an interrupt is about to end is looked at again, in ms. */
const SEALING_MS = 200;

/** The longest answer of a child in the event of its return, in bytes. */
const EVENT_TEXT_BYTES = 4 * 1024;

/** The longest answer of a child in the error of a call, in bytes: it does not have the form that was asked for. */
const ERROR_TEXT_BYTES = 16 * 1024;

async function returnChild(
  services: ChildServices,
  wait: DueWait,
  awaited: Awaited,
  child: Child,
  isBackground: boolean,
): Promise<void> {
  const outcome = outcomeOf(child);
  const text = textOf(child, outcome);
  const returned: AgentEventBody = {
    kind: "AGENT_RETURNED",
    callId: awaited.call.id,
    childId: wait.ref,
    outcome,
    text: marked(outcome === "ok" ? text : spoken(child, outcome, text), EVENT_TEXT_BYTES, "the agent has the whole"),
  };
  const told = {
    source: outcome === "interrupted" ? "INTERRUPTED_CHILD" : "CHILD",
    text: toldInBackground(`The agent ${wait.ref} (${child.templateId})`, child, outcome, text),
  } as const;
  if (isBackground) return settle(services, wait, awaited, [returned], { told });
  if (isFinal(awaited.call.state)) return settle(services, wait, awaited, [returned]);
  const { permissionIds, usage, templateId, value } = child;
  const details = {
    status: outcome,
    agentId: wait.ref,
    template: templateId,
    text,
    value,
    reason: reasonOf(child),
    permissionIds,
    usage,
  };
  const isMisshapen = child.doneReason === "SHAPE";
  const answer = isMisshapen
    ? failedElsewhere(spoken(child, outcome, headBytes(text, ERROR_TEXT_BYTES)))
    : accepted({ output: spoken(child, outcome, text), details });
  return endCall(services, wait, awaited, returned, answer);
}

const UNMADE = { isUnmade: true } as const;

/** The child was not made. */
async function refuseChild(services: ChildServices, wait: DueWait, awaited: Awaited, why: NotStarted): Promise<void> {
  const { returned, told } = notStarted(wait.ref, awaited.call.id, why);
  if (wait.kind === "BACKGROUND_CHILD") return settle(services, wait, awaited, [returned], { ...UNMADE, told });
  return endCall(services, wait, awaited, returned, failedElsewhere(why.text));
}

/** Ends the call that waits for a child, and its wait. */
async function endCall(
  services: ChildServices,
  wait: DueWait,
  awaited: Awaited,
  returned: AgentEventBody,
  answer: LaterEnd["answer"],
): Promise<void> {
  const template = await templateOf(services, awaited);
  const call = toolOfLater(services.tools, awaited);
  if ("missing" in template || call === null)
    throw new Error(`the parts of agent ${awaited.agentId}, to which a child returns, are not configured here`);
  const { change, events, at } = await endOfLater(services, awaited, {
    template,
    call,
    answer,
    trail: { note: `the agent ${wait.ref} returned` },
  });
  await services.log.commit(
    awaited.tenant,
    { agentId: awaited.agentId, createdBy: awaited.createdBy, events: [returned, ...events].map((body) => ({ at, body })) },
    { ...change, waitSettled: { ref: wait.ref, at: at.toISOString() } },
  );
}

/** `isUnmade`: the child must not have been made. */
type Settled = {
  readonly told?: { readonly source: "CHILD" | "INTERRUPTED_CHILD"; readonly text: string };
  readonly isUnmade?: true;
};

/**
 * Ends the wait. A notice tells the end of a child in the background, and wakes an idle parent. That of an interrupted
 * child waits for the next step: a person wanted quiet.
 */
async function settle(
  { log, clock }: Pick<ChildServices, "log" | "clock">,
  wait: DueWait,
  { agentId, tenant, createdBy, parent }: Awaited,
  events: readonly AgentEventBody[],
  { told, isUnmade }: Settled = {},
): Promise<void> {
  const at = clock.now();
  const notices = told === undefined ? [] : [notice({ id: agentId, tenant }, { ...told, ref: wait.ref }, at)];
  const waitSettled = { ref: wait.ref, at: at.toISOString(), ...(isUnmade && { isUnmade }) };
  await log.commit(
    tenant,
    { agentId, createdBy, events: events.map((body) => ({ at, body })) },
    { ...(parent.isArchived ? {} : { wake: true }), notices, waitSettled },
  );
}

async function interruptChild({ log, clock }: ChildServices, wait: DueWait, { tenant, createdBy, call }: Awaited): Promise<void> {
  const at = clock.now();
  const note = `the call that started it has ended: ${call.state}`;
  const requestedBy = { id: call.id, kind: "SYSTEM" } as const;
  // If it has ended meanwhile, the commit is refused, and its end makes the wait due.
  await log.commit(
    tenant,
    { agentId: wait.ref, createdBy, events: [{ at, body: { kind: "INTERRUPT_REQUESTED", requestedBy, note } }] },
    { wake: true, interrupt: { at: at.toISOString(), note }, childAwaited: { ref: wait.ref, due: wait.due } },
  );
}

/** A child that will never begin counts as interrupted. */
function outcomeOf({ doneReason }: Child): ChildOutcome {
  if (doneReason === "COMPLETED") return "ok";
  return doneReason === null || doneReason === "INTERRUPTED" ? "interrupted" : "error";
}

/** A child as its call is sealed with it, while it may still work. */
export function sealedChild({ childId, child }: ChildOfCall): SealedChild {
  if (child === null) return { agentId: childId, soFar: null };
  const { templateId: template, value, permissionIds, usage } = child;
  const text = marked(textOf(child, "interrupted"), ERROR_TEXT_BYTES, "the agent has the whole");
  return { agentId: childId, soFar: { template, text, value, permissionIds, usage } };
}

/** The answer of a child; of one that did not complete, all its text, with an answer that broke off. */
function textOf({ texts, broken }: Child, outcome: ChildOutcome): string {
  const all = outcome === "ok" ? texts.slice(-1) : [...texts, ...(broken === null ? [] : [broken])];
  return headBytes(all.join("\n\n"), 512 * 1024);
}

/** The answer as the parent reads it as the result of its call. */
function spoken(child: Child, outcome: ChildOutcome, text: string): string {
  if (text === "") return endedSilently("The agent", child, outcome);
  if (outcome === "ok") return text;
  return `[The agent did not complete its task (${outcome}).${reasonSaid(child)}\nUntil then it said:]\n${text}`;
}

function toldInBackground(who: string, child: Child, outcome: ChildOutcome, text: string): string {
  if (text === "") return endedSilently(who, child, outcome);
  const reason = reasonSaid(child);
  return `${who} has ended (${outcome})${reason === "" ? "" : `.${reason}\nUntil then it said`}:\n${text}`;
}

function endedSilently(who: string, child: Child, outcome: ChildOutcome): string {
  return `${who} has ended (${outcome}), and said nothing.${reasonSaid(child)}`;
}

function reasonSaid(child: Child): string {
  const reason = reasonOf(child);
  return reason === null ? "" : ` ${reason}`;
}

/** The reason of the end of a child that did not complete its task, as a sentence; null if none is known. */
function reasonOf({ interruptNote, error, doneReason }: Child): string | null {
  switch (doneReason) {
    case "ERROR":
      return error === null ? null : `The error: ${error}`;
    case "INTERRUPTED":
      return interruptNote === null ? null : `The interrupt was noted: ${interruptNote}`;
    case "SHAPE":
      return "Its answer does not have the form that was asked for.";
    case "MAX_STEPS":
      return "Its turn had the most steps that it may have.";
    case "BUDGET":
      return "Its budget is used up.";
    case "COMPLETED":
      return null;
    case null:
      return "It has not begun.";
  }
}
