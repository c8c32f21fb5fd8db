import { createHash } from "node:crypto";
import type { JsonObject } from "../../src/lib/json.ts";
import { contentOf, objects, textIn } from "../../tests/support/providers/strict-conversation.ts";

/** The provider looks for a cached beginning at so many blocks before each mark. */
const LOOKED_AT = 20;
/** So many beginnings are kept: those of the agents of a run. */
const KEPT = 1_000;

/** The tokens of a request by their way through the cache. */
export type Cached = { readonly read: number; readonly written: number; readonly fresh: number };

/** The beginning of a request up to one block, by its hash. */
export type Beginning = { readonly hash: string; readonly tokens: number; readonly isMarked: boolean };

/** A prompt cache as Anthropic's works: marks write the beginnings that they end, and read the longest written one before them. */
export class PromptCache {
  readonly #written = new Set<string>();

  takes(beginnings: readonly Beginning[]): Cached {
    const marks = beginnings.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
    const looked = marks.flatMap((mark) => beginnings.slice(Math.max(0, mark - LOOKED_AT), mark + 1));
    const read = Math.max(0, ...looked.filter(({ hash }) => this.#written.has(hash)).map(({ tokens }) => tokens));
    const marked = beginnings[marks.at(-1) ?? -1]?.tokens ?? 0;
    for (const mark of marks) this.#keep(beginnings[mark]?.hash ?? "");
    return { read, written: marked - read, fresh: tokensOf(beginnings) - marked };
  }

  #keep(hash: string): void {
    this.#written.delete(hash);
    this.#written.add(hash);
    const [oldest] = this.#written;
    if (this.#written.size > KEPT && oldest !== undefined) this.#written.delete(oldest);
  }
}

/** The tokens of a request. */
export function tokensOf(beginnings: readonly Beginning[]): number {
  return beginnings.at(-1)?.tokens ?? 0;
}

/** The blocks of a request in the order in which the provider reads them: tools, system, messages. A token is four characters. */
export function beginningsOf({ tools, system, messages }: JsonObject): readonly Beginning[] {
  const hash = createHash("sha1");
  let tokens = 0;
  const said = objects(messages).flatMap((message) =>
    contentOf(message).map((block) => ({ role: textIn(message["role"]), block })),
  );
  return [...[...objects(tools), ...objects(system)].map((block) => ({ role: "", block })), ...said].map(({ role, block }) => {
    const { cache_control: mark, ...rest } = block;
    const text = JSON.stringify(rest);
    tokens += Math.ceil(text.length / 4);
    hash.update(role).update(text);
    return { hash: hash.copy().digest("base64"), tokens, isMarked: mark !== undefined };
  });
}
