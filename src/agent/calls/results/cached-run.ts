import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { errorCode } from "../../../lib/text.ts";
import { placeOf, valuesAt } from "../../tools/path-places.ts";
import { readToolResult, type ToolResult } from "../../tools/tool-result.ts";
import type { Tool } from "../../tools/tool.ts";
import { isSameState, stateOf, type FileState, type KnownFiles, type NotedFile } from "../../workspace/known-files.ts";
import { PathRefused, type Workspace } from "../../workspace/workspace.ts";
import type { Around } from "../hooks.ts";
import { schemaForm } from "../stages/confirmation.ts";
import type { Validated } from "../stages/validation.ts";
import type { KeptResult, FreshResult, ResultCache } from "./result-cache.ts";

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

const COMPARED_BYTES = 64 * 1024 * 1024;

/** A declared file of a call: its path with links resolved, relative to the workspace. */
type DeclaredFile = {
  readonly name: string;
  /** Null if there is no such file. */
  readonly content: { readonly state: FileState; readonly digest: string } | null;
};

/**
 * The present state of a call's declared files. Null if the inputs of the answer are uncertain: a place is omitted, so
 * that the tool chooses, or a path is unreadable or no file. Also null if the files exceed 64 MB together, or `signal`
 * aborts.
 */
async function declaredFiles(
  { paths }: Pick<Tool, "paths">,
  input: JsonObject,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<readonly DeclaredFile[] | null> {
  const files = new Map<string, DeclaredFile>();
  let room = COMPARED_BYTES;
  for (const place of Object.keys(paths)) {
    const given = pathsAt(input, place);
    if (given === null) return null;
    for (const path of given) {
      const file = await look(workspace, path, room, signal);
      if (file === null) return null;
      room -= Number(file.content?.state.bytes ?? 0n);
      files.set(file.name, file);
    }
  }
  return [...files.values()];
}

function pathsAt(input: JsonObject, name: string): readonly string[] | null {
  const place = placeOf(name);
  const value = input[place.parameter] ?? null;
  const isLeftOut = (item: unknown): boolean => isJsonObject(item) && (item[place.field ?? ""] ?? null) === null;
  if (value === null || (place.field !== null && Array.isArray(value) && value.some(isLeftOut))) return null;
  const texts = valuesAt(input, place);
  return texts.every((text) => typeof text === "string") ? texts : null;
}

async function look(workspace: Workspace, path: string, room: number, signal: AbortSignal): Promise<DeclaredFile | null> {
  try {
    const name = workspace.show(workspace.resolve(path));
    const file = await workspace.openForReading(path).catch(unlessMissing);
    if (file === null) return { name, content: null };
    try {
      const state = await stateOf(file);
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (signal.aborted || bytes > room) return null;
        hash.update(piece);
      }
      return { name, content: { state, digest: hash.digest("hex") } };
    } finally {
      await file.close();
    }
  } catch (error) {
    // The tool reports unreadable files.
    if (error instanceof PathRefused || (error instanceof Error && "syscall" in error)) return null;
    throw error;
  }
}

function unlessMissing(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  throw error;
}
