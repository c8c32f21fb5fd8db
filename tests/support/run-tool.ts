import { ChildStarted } from "../../src/agent/tools/child.ts";
import { AnswerKept, NeedsInput } from "../../src/agent/tools/question.ts";
import { Later } from "../../src/agent/tools/later.ts";
import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { join } from "node:path";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import type { ToolContext } from "../../src/agent/tools/tool-context.ts";
import type { ToolResult } from "../../src/agent/tools/tool-result.ts";
import { KnownFiles, type KnownFileRows, RecentContents } from "../../src/agent/workspace/known-files.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import type { Json } from "../../src/lib/json.ts";

/** The files of an agent that has just read each of a folder's. */
function knowsAll(folder: string): KnownFiles {
  const rows: KnownFileRows = async (path) => {
    const isFile = lstatSync(join(folder, path), { throwIfNoEntry: false })?.isFile();
    if (isFile !== true) return null;
    const content = createReadStream(join(folder, path));
    const hash = createHash("sha256");
    for await (const piece of content) hash.update(piece as Buffer);
    const digest = hash.digest("hex");
    return { access: "READ", isWhole: true, digest, bytes: content.bytesRead, modifiedAt: new Date(0).toISOString(), stamp: "" };
  };
  return new KnownFiles(rows, new RecentContents());
}

/** The context of a call in a folder, as the gate gives it to tools. */
export function contextIn(folder: string, more: Partial<ToolContext> = {}): ToolContext {
  return {
    tenant: "t",
    createdBy: "anna",
    templateId: "assistant",
    agentId: "a",
    callId: "c",
    workspace: new Workspace(folder),
    files: knowsAll(folder),
    signal: new AbortController().signal,
    todos: { read: async () => [], write: async () => {} },
    emit: async () => {},
    start: () => Promise.reject(new Error("no tool of files starts a program")),
    finish: () => Promise.reject(new Error("no tool of files starts a program")),
    shells: {
      start: () => Promise.reject(new Error("no tool of files starts a program")),
      logs: async () => null,
      kill: async () => null,
    },
    mayReach: async () => false,
    completionToken: () => "token",
    remind: async () => {},
    memory: null,
    earlierOutput: async () => null,
    startChild: () => Promise.reject(new Error("no tool of files starts an agent")),
    answered: null,
    askPerson: () => Promise.reject(new Error("no tool of files asks a person")),
    ...more,
  };
}

/** Runs a built-in tool as the gate does, in the folder. */
export async function runTool(folder: string, name: string, input: Json, more: Partial<ToolContext> = {}): Promise<ToolResult> {
  const tool = BUILTIN_TOOLS.find((candidate) => candidate.name === name);
  const bound = tool?.bind(input);
  if (!bound?.ok) throw new Error(JSON.stringify(bound?.refusal));
  const answer = await bound.value.run(contextIn(folder, more));
  const isAsked = answer instanceof NeedsInput || answer instanceof AnswerKept;
  if (isAsked || answer instanceof Later || answer instanceof ChildStarted) throw new Error("no built-in tool answers later");
  return answer;
}
