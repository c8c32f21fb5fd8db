import { ScriptError } from "./agent/models/script.ts";
import { errorCode } from "./lib/text.ts";
import { ControlGroupsRefused } from "./agent/workspace/sandbox/control-groups.ts";
import { ToolDefinitionError } from "./agent/tools/input-schema.ts";
import { DataFolderInUse, DataFolderUnusable } from "./db/lock-file.ts";
import { CopyRefused } from "./db/copies/folder-copy.ts";
import { StatementRefused } from "./db/bi/statement.ts";
import { ViewsRefused } from "./db/bi/view.ts";
import { MigrationError } from "./db/migrate.ts";
import { DatabaseUnavailable } from "./db/storage-error.ts";
import { ConfigurationError } from "./config/configuration-error.ts";
import { ListenError } from "./server/server.ts";

/** A command of an operator cannot do its work. The message says why. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

const EXPLAINED = [
  CommandFailed,
  ConfigurationError,
  ControlGroupsRefused,
  CopyRefused,
  DataFolderInUse,
  DataFolderUnusable,
  DatabaseUnavailable,
  ListenError,
  MigrationError,
  ScriptError,
  StatementRefused,
  ToolDefinitionError,
  ViewsRefused,
];

/** An operator's action about a file or a folder, by system error code. */
const FILE_ADVICE: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "the disk is full: make room"],
  ["EDQUOT", "the quota of the disk is used up: make room"],
  ["EROFS", "the disk can only be read: set TRIPLANE_DATA_DIR and TRIPLANE_PROGRAMS_DIR to folders that can be written"],
  ["EACCES", "the server's user must be allowed to write there"],
]);

/** The message of an error that the operator can fix; null for other errors. */
export function explained(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (EXPLAINED.some((kind) => error instanceof kind)) return error.message;
  const advice = FILE_ADVICE.get(errorCode(error) ?? "");
  return advice === undefined ? null : `${error.message}: ${advice}`;
}
