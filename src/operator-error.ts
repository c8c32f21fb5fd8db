import { ScriptError } from "./agent/models/script.ts";
import { ControlGroupsRefused } from "./agent/workspace/sandbox/control-groups.ts";
import { ToolDefinitionError } from "./agent/tools/input-schema.ts";
import { DataFolderInUse, DataFolderUnusable } from "./db/lock-file.ts";
import { MigrationError } from "./db/migrate.ts";
import { DatabaseUnavailable } from "./db/storage-error.ts";
import { ConfigurationError } from "./config/configuration-error.ts";
import { ListenError } from "./server/server.ts";

const EXPLAINED = [
  ConfigurationError,
  ControlGroupsRefused,
  DataFolderInUse,
  DataFolderUnusable,
  DatabaseUnavailable,
  ListenError,
  MigrationError,
  ScriptError,
  ToolDefinitionError,
];

/** The message of an error that is the operator's to mend; null for other errors. */
export function explained(error: unknown): string | null {
  return error instanceof Error && EXPLAINED.some((kind) => error instanceof kind) ? error.message : null;
}
