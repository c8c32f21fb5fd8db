import type { SaidPiece } from "./chat-chunk.ts";

const OPENING = "<think>";
const CLOSING = "</think>";

/** Parses a leading block `<think>…</think>` as a thought, for servers without a parser for it. Blocks elsewhere are text. */
export class ThinkTag {
  #state: "before" | "in" | "closing" | "past";
  /** Text that may be the beginning of a tag. */
  #held = "";

  constructor(isOpen: boolean) {
    this.#state = isOpen ? "in" : "before";
  }

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

/** The length of the longest end of a text that may begin a tag. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
