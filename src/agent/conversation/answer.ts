import { mapStrings, type Json, type JsonObject } from "../../lib/json.ts";
import { storable } from "../../lib/text.ts";
import { parseArguments } from "../calls/arguments.ts";
import type { StoredBlock, StoredImage } from "./images.ts";
import type { CacheDiagnosis, StopReason, ThinkingBlock, TokenUsage } from "../models/model.ts";

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
  /** Absent if the provider was not asked for one. */
  readonly cache?: CacheDiagnosis;
};

/** True for an answer that ends a turn with nothing in it. */
export function isEmpty({ stopReason, content }: Answer): boolean {
  return stopReason === "end_turn" && !content.some(({ type }) => type === "text" || type === "tool_use");
}

/** A block of what a model said, and whether it said it or only thought it. */
export type SaidBlock = { readonly kind: "text" | "thinking"; readonly block: number; readonly text: string };

/** What a thought's provider needs to take it back. */
type Proof = Pick<ThinkingBlock, "signature" | "redacted" | "field" | "fields">;

/** The most that is kept of what belongs to a provider, in an answer, in characters of JSON. */
const PROVIDER_CHARACTERS = 256 * 1024;

/**
 * Collects a model's answer, block by block. Text that is only space is left out: providers refuse it. What belongs to its provider
 * (thoughts before calls, signatures, and what else it says) is kept with the answer, for the model `by` alone.
 */
export class AnswerBuilder {
  readonly #by: string;
  readonly #said = new Map<number, SaidBlock>();
  readonly #thoughts: { block: number; proof: Proof }[] = [];
  readonly #content: { block: number; content: AnswerBlock }[] = [];
  readonly #calls: AnsweredCall[] = [];
  #left = PROVIDER_CHARACTERS;

  constructor(by: string) {
    this.#by = by;
  }

  /** True if the provider has said more of its own than is kept. */
  get isCut(): boolean {
    return this.#left < 0;
  }

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

  /** What was thought in a block is over; `proof` lets its model read it again. */
  endThought(block: number, { signature, redacted, field, fields }: Proof): void {
    const kept = this.#kept(fields);
    const proof = { signature, redacted, ...(field === undefined ? {} : { field }), ...(kept === null ? {} : { fields: kept }) };
    this.#thoughts.push({ block, proof });
  }

  /** What else the provider says of the answer stands before all of it. */
  addFields(fields: JsonObject): void {
    const kept = this.#kept(fields);
    if (kept !== null) this.#thoughts.unshift({ block: -1, proof: { signature: null, redacted: null, fields: kept } });
  }

  addCall(block: number, id: string, name: string, args: string, fields?: JsonObject): void {
    const requestedInput = parseArguments(args);
    const given = typeof requestedInput === "string" ? { invalid_arguments: requestedInput } : requestedInput;
    // As its row has it: half a character, which some providers refuse, is none there.
    const input = mapStrings(given, storable);
    const shortName = storable(name.slice(0, NAME_CHARACTERS));
    const kept = this.#kept(fields);
    const provider = kept === null ? {} : { provider: { by: this.#by, fields: kept } };
    this.#content.push({ block, content: { type: "tool_use", id, name: toolName(name), input, ...provider } });
    this.#calls.push({ providerId: id, name: shortName, requestedInput });
  }

  /** The answer. Thoughts that are not retained stay in it only if calls follow them, and people never see them. */
  finish(stopReason: StopReason, usage: TokenUsage, isRetained: boolean): Answer {
    const texts = this.said.flatMap(({ kind, block, text }) =>
      kind === "thinking" || text.trim() === "" ? [] : [{ block, content: { type: "text", text: storable(text) } as const }],
    );
    const thoughts = isRetained || this.#calls.length > 0 ? this.#thoughts : [];
    const thought = thoughts.map(({ block, proof }) => {
      const thinking = storable(this.#said.get(block)?.text ?? "");
      const hidden = isRetained && block >= 0 ? {} : ({ isRetained: false } as const);
      return { block, content: { type: "thinking", by: this.#by, thinking, ...proof, ...hidden } as const };
    });
    const content = [...thought, ...texts, ...this.#content].toSorted((a, b) => a.block - b.block).map((entry) => entry.content);
    return { content, calls: this.#calls, stopReason, usage };
  }

  /** The fields as a row holds them; null for none, and once there are too many. */
  #kept(fields: JsonObject = {}): JsonObject | null {
    if (Object.keys(fields).length === 0) return null;
    this.#left -= JSON.stringify(fields).length;
    return this.#left < 0 ? null : (mapStrings(fields, storable) as JsonObject);
  }
}

/** The name as every provider takes it back: a model may have invented another one. */
function toolName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}
