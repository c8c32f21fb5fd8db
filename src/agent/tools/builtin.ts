import { bashKill, bashLogs } from "./bash/background-shells.ts";
import { bashRun } from "./bash/run.ts";
import { fsRead } from "./fs/read.ts";
import { fsGlob, fsGrep } from "./fs/search.ts";
import { fsEdit, fsMultiEdit, fsWrite } from "./fs/write.ts";
import { memoryTool } from "./memory/memory.ts";
import { readOutput } from "./read-output.ts";
import { taskRun } from "./task.ts";
import { todoRead, todoWrite } from "./todo.ts";
import type { Tool } from "./tool.ts";

export const BUILTIN_TOOLS: readonly Tool[] = [
  fsRead,
  fsWrite,
  fsEdit,
  fsMultiEdit,
  fsGlob,
  fsGrep,
  bashRun,
  bashLogs,
  bashKill,
  todoRead,
  todoWrite,
  memoryTool,
  readOutput,
  taskRun,
].map(ofServer);

function ofServer(tool: Tool): Tool {
  return { ...tool, source: "BUILTIN" };
}
