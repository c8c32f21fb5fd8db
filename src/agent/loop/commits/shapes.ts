import type { ShapeFailure, ShapeProblem } from "../../../db/commit/change.ts";
import type { Json } from "../../../lib/json.ts";
import { byteLength } from "../../../lib/text.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import type { AgentView } from "../view.ts";
import { added, compose, noteMessage, type Commit } from "./commit.ts";
import { turnEnded } from "./turns.ts";

/** The check of an answer that ends a turn: it has the value, is to be corrected, or fails. */
export type ShapedAnswer =
  | { readonly kind: "fits"; readonly value: Json }
  | { readonly kind: "misfit"; readonly problems: readonly ShapeProblem[]; readonly corrections: number }
  | { readonly kind: "failed"; readonly failure: ShapeFailure; readonly problems: readonly ShapeProblem[] };

/** A larger value is not in its event, but read from its row, in bytes of JSON. */
const EVENT_VALUE_BYTES = 48 * 1024;

/** The problems of a DONE, and the longest text of each. */
const EVENT_PROBLEMS = 20;
const PROBLEM_CHARACTERS = 200;

/** The message of an answer, with its value. */
export function withValue(messages: AddedMessages, shaped: ShapedAnswer | null): AddedMessages {
  if (shaped?.kind !== "fits") return messages;
  return messages.map((message) => ({ ...message, shape: { kind: "ANSWER", value: shaped.value } }));
}

/** The end of a turn with a shape, or a request for another answer. `messages` have the answer. */
export function shapedEnd(view: AgentView, shaped: ShapedAnswer, messages: AddedMessages, at: Date): Commit {
  switch (shaped.kind) {
    case "fits": {
      const value = byteLength(JSON.stringify(shaped.value)) > EVENT_VALUE_BYTES ? null : shaped.value;
      const id = messages.at(-1)?.id;
      return turnEnded(view, { reason: "COMPLETED", note: null, value, ...(id === undefined ? {} : { valueMessageId: id }) }, at);
    }
    case "misfit":
      return corrected(view, shaped, at);
    case "failed": {
      const problems = shaped.problems.slice(0, EVENT_PROBLEMS).map(shortened);
      const listed = problems.length === 0 ? {} : { problems };
      return turnEnded(view, { reason: "SHAPE", note: null, detail: shaped.failure, ...listed }, at);
    }
  }
}

function shortened({ path, message }: ShapeProblem): ShapeProblem {
  return { path: path.slice(0, PROBLEM_CHARACTERS), message: message.slice(0, PROBLEM_CHARACTERS) };
}

/** The turn continues: a note asks for another answer, and names each problem. */
function corrected(view: AgentView, { problems, corrections }: ShapedAnswer & { readonly kind: "misfit" }, at: Date): Commit {
  const count = view.shape.corrections + 1;
  const text = [
    `The server has checked the answer: it does not have the form that was asked for (correction ${count} of ${corrections}).`,
    ...problems.map(({ path, message }) => `- ${path}: ${message}`),
    "Answer again with the whole JSON, and nothing else.",
  ].join("\n");
  const message = { ...noteMessage(view, [text], at), shape: { kind: "CORRECTION", problems } } as const;
  return {
    change: { messages: [message], agent: { transcriptLength: view.transcriptLength + 1 } },
    events: [],
    after: compose(added([message]), (now) => ({ ...now, shape: { ...now.shape, corrections: count } })),
  };
}
