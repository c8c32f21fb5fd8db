import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { readToolResult, type ToolResult } from "../../tools/tool-result.ts";
import { isSameState } from "../../workspace/file-state.ts";
import type { KnownFiles, NotedFile } from "../../workspace/known-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Around } from "../hooks.ts";
import { schemaForm } from "../stages/confirmation.ts";
import type { Validated } from "../stages/validation.ts";
import { declaredFiles, type DeclaredFile } from "./declared-files.ts";
import type { KeptResult } from "./recent-results.ts";
import type { FreshResult, ResultCache } from "./result-cache.ts";

export type CachedPlace = {
  readonly cache: ResultCache;
  readonly workspace: Workspace;
  readonly files: () => KnownFiles;
};

type Ran = { readonly key: string; readonly files: readonly DeclaredFile[]; readonly since: number; readonly answer: unknown };

/**
 * One run of a cacheable tool. It wraps only the tool, inside all other wrappers. The tool does not run if it has
 * answered the same call for the same files before. All other stages run as usual.
 */
export class CachedRun {
  readonly #call: Validated;
  readonly #place: CachedPlace;
  #from: string | null = null;
  #ran: Ran | null = null;

  constructor(call: Validated, place: CachedPlace) {
    this.#call = call;
    this.#place = place;
  }

  get from(): string | null {
    return this.#from;
  }

  readonly around: Around = async ({ signal }, run) => {
    const { cache } = this.#place;
    const since = cache.moment;
    const before = since === null ? null : await this.#look(signal);
    if (since === null || before === null) return run();
    const kept = cache.give(before.key);
    if (kept !== null) return this.#give(kept, before.files);
    const answer = await run();
    this.#ran = { ...before, since, answer };
    return answer;
  };

  /** The tool's result if it may be kept: null if a file changed meanwhile, or if an undeclared file was read. */
  async fresh(noted: readonly NotedFile[], signal: AbortSignal): Promise<FreshResult | null> {
    const ran = this.#ran;
    const answer = ran === null ? null : readToolResult(ran.answer);
    if (ran === null || answer === null || !noted.every((file) => isAmong(ran.files, file))) return null;
    const after = await this.#look(signal);
    if (after === null || !areUntouched(ran.files, after.files)) return null;
    const { callId } = this.#call.request;
    return { key: ran.key, since: ran.since, result: { callId, answer: JSON.stringify(answer), noted } };
  }

  #give({ callId, answer, noted }: KeptResult, files: readonly DeclaredFile[]): ToolResult {
    this.#from = callId;
    for (const { path, isWhole } of noted) {
      const file = files.find(({ name }) => name === path);
      if (file?.content != null) this.#place.files().read({ name: path, ...file.content, content: null }, isWhole);
    }
    return JSON.parse(answer) as ToolResult;
  }

  async #look(signal: AbortSignal): Promise<{ key: string; files: readonly DeclaredFile[] } | null> {
    const { tool, bound } = this.#call;
    const { workspace } = this.#place;
    const files = await declaredFiles(tool, bound.input, workspace, signal);
    if (files === null) return null;
    const contents = files.map(({ name, content }) => [name, content?.digest ?? null] as const);
    const form = [tool.name, schemaForm(tool), canonicalize(bound.input), workspace.root, contents];
    return { key: createHash("sha256").update(JSON.stringify(form)).digest("hex"), files };
  }
}

function areUntouched(before: readonly DeclaredFile[], after: readonly DeclaredFile[]): boolean {
  const isSame = ({ name, content }: DeclaredFile, other: DeclaredFile | undefined): boolean =>
    name === other?.name &&
    content?.digest === other.content?.digest &&
    isSameState(content?.state ?? null, other.content?.state ?? null);
  return before.length === after.length && before.every((file, index) => isSame(file, after[index]));
}

function isAmong(files: readonly DeclaredFile[], { path, digest, access }: NotedFile): boolean {
  return access === "READ" && files.some(({ name, content }) => name === path && content?.digest === digest);
}
