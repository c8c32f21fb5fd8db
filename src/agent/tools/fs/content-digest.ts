import { createHash } from "node:crypto";
import type { SeenFile } from "../../workspace/known-files.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";

export class ContentDigest {
  readonly #hash = createHash("sha256");
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async *of(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const piece of pieces) {
      this.add(piece);
      yield piece;
    }
  }

  add(piece: Buffer): void {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= EDITED_FILE_BYTES) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  end(): Pick<SeenFile, "digest" | "content"> {
    const content = this.#bytes <= EDITED_FILE_BYTES ? Buffer.concat(this.#pieces) : null;
    return { digest: this.#hash.digest("hex"), content };
  }
}
