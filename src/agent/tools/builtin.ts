import { bashKill, bashLogs } from "./bash/background-shells.ts";
import { bashRun } from "./bash/run.ts";
import { fsEdit, fsMultiEdit } from "./fs/edit.ts";
import { fsGlob } from "./fs/glob.ts";
import { fsGrep } from "./fs/grep.ts";
import { fsRead } from "./fs/read.ts";
import { fsWrite } from "./fs/write.ts";
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
];
