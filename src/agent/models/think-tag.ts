import type { SaidPiece } from "./chat-chunk.ts";

const OPENING = "<think>";
const CLOSING = "</think>";

/**
 * Takes a block `<think>…</think>` at the beginning of an answer for a thought: servers without a parser for it leave it in the text.
 * A block anywhere else is text.
 */
export class ThinkTag {
  #state: "before" | "in" | "closing" | "past";
  /** Text whose meaning is not clear before more of it has come. */
  #held = "";

  /** `isOpen` if the answer begins in the thought: its tag stands in what the model was given. */
  constructor(isOpen: boolean) {
    this.#state = isOpen ? "in" : "before";
  }

  /** The pieces that a further piece of text makes. */
  take(text: string): SaidPiece[] {
    this.#held += text;
    const pieces: SaidPiece[] = [];
    for (;;) {
      const before = { state: this.#state, length: this.#held.length };
      const piece = this.#next();
      if (piece !== null) pieces.push(piece);
      if (this.#state === before.state && this.#held.length === before.length) return pieces;
    }
  }

  /** What was held back, at the end of the answer. */
  end(): SaidPiece[] {
    const text = this.#held;
    this.#held = "";
    if (text === "" || this.#state === "closing") return [];
    return [this.#state === "in" ? thought(text) : { kind: "text", text }];
  }

  #next(): SaidPiece | null {
    switch (this.#state) {
      case "before": {
        const begun = this.#held.trimStart();
        if (begun.startsWith(OPENING)) {
          this.#state = "in";
          this.#held = begun.slice(OPENING.length);
          return null;
        }
        if (OPENING.startsWith(begun)) return null;
        this.#state = "past";
        return null;
      }
      case "in": {
        const end = this.#held.indexOf(CLOSING);
        if (end >= 0) {
          const text = this.#held.slice(0, end);
          this.#held = this.#held.slice(end + CLOSING.length);
          this.#state = "closing";
          return text === "" ? null : thought(text);
        }
        const certain = this.#held.length - partialEnd(this.#held, CLOSING);
        return certain === 0 ? null : thought(this.#taken(certain));
      }
      case "closing":
        this.#held = this.#held.trimStart();
        if (this.#held !== "") this.#state = "past";
        return null;
      case "past":
        return this.#held === "" ? null : { kind: "text", text: this.#taken(this.#held.length) };
    }
  }

  #taken(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

function thought(text: string): SaidPiece {
  return { kind: "thinking", text, field: "think tag" };
}

/** The length of the longest end of a text with which a tag may begin. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
