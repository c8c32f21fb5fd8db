import { createHash } from "node:crypto";
import type { SeenFile } from "../../workspace/known-files.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";

/** The digest of a content that is read piece by piece, and the content, unless it is larger than what is edited. */
export class ContentDigest {
  readonly #hash = createHash("sha256");
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  /** The bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The pieces as they are; each is counted on its way. */
  async *of(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const piece of pieces) {
      this.add(piece);
      yield piece;
    }
  }

  /** Adds a piece. */
  add(piece: Buffer): void {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= EDITED_FILE_BYTES) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  /** The content, once, after its last piece. */
  end(): Pick<SeenFile, "digest" | "content"> {
    const content = this.#bytes <= EDITED_FILE_BYTES ? Buffer.concat(this.#pieces) : null;
    return { digest: this.#hash.digest("hex"), content };
  }
}
