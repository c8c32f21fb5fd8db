import { mapStrings, toJson, type Json } from "../../lib/json.ts";
import { storable } from "../../lib/text.ts";
import { parseArguments } from "../calls/arguments.ts";
import type { StoredBlock, StoredImage, SentImage } from "./images.ts";
import type { StopReason, ThinkingBlock, TokenUsage } from "../models/model.ts";

/** A longer name is cut: no tool has one. */
const NAME_CHARACTERS = 200;

/** A tool call in a model's answer. */
export type AnsweredCall = { readonly providerId: string; readonly name: string; readonly requestedInput: Json };

/** A block of a model's answer. */
type AnswerBlock = Exclude<StoredBlock, StoredImage>;

/** A model's whole answer. */
export type Answer = {
  readonly content: readonly AnswerBlock[];
  readonly calls: readonly AnsweredCall[];
  readonly stopReason: StopReason;
  readonly usage: TokenUsage;
};

/** A block of what a model said, and whether it said it or only thought it. */
export type SaidBlock = { readonly kind: "text" | "thinking"; readonly block: number; readonly text: string };

/** Collects a model's answer, block by block. Text that is only space is left out: providers refuse it. */
export class AnswerBuilder {
  readonly #said = new Map<number, SaidBlock>();
  readonly #content: { block: number; content: AnswerBlock }[] = [];
  readonly #calls: AnsweredCall[] = [];

  /** The blocks that were said and thought so far. */
  get said(): readonly SaidBlock[] {
    return [...this.#said.values()];
  }

  start(kind: SaidBlock["kind"], block: number): void {
    this.#said.set(block, { kind, block, text: "" });
  }

  add(kind: SaidBlock["kind"], block: number, text: string): void {
    this.#said.set(block, { kind, block, text: (this.#said.get(block)?.text ?? "") + text });
  }

  /** Keeps what was thought in a block, with what lets its model read it again. */
  retain(block: number, proof: Pick<ThinkingBlock, "by" | "signature" | "redacted">): void {
    const thinking = storable(this.#said.get(block)?.text ?? "");
    this.#content.push({ block, content: { type: "thinking", thinking, ...proof } });
  }

  addCall(block: number, id: string, name: string, args: string): void {
    const requestedInput = parseArguments(args);
    const given = typeof requestedInput === "string" ? { invalid_arguments: requestedInput } : requestedInput;
    // As its row has it: half a character, which some providers refuse, is none there.
    const input = mapStrings(given, storable);
    const shortName = storable(name.slice(0, NAME_CHARACTERS));
    this.#content.push({ block, content: { type: "tool_use", id, name: toolName(name), input } });
    this.#calls.push({ providerId: id, name: shortName, requestedInput });
  }

  finish(stopReason: StopReason, usage: TokenUsage): Answer {
    const texts = this.said.flatMap(({ kind, block, text }) =>
      kind === "thinking" || text.trim() === "" ? [] : [{ block, content: { type: "text", text: storable(text) } as const }],
    );
    const content = [...texts, ...this.#content].toSorted((a, b) => a.block - b.block).map((entry) => entry.content);
    return { content, calls: this.#calls, stopReason, usage };
  }
}

/** The name as every provider takes it back: a model may have invented another one. */
function toolName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

/**
 * The content blocks of a stored message; one of before may have its images in it. Rows are written by the loop and by
 * sendMessage only, so that their form is known.
 */
export function contentBlocks(content: unknown): readonly (StoredBlock | SentImage)[] {
  return (toJson(content) ?? []) as unknown as readonly (StoredBlock | SentImage)[];
}
