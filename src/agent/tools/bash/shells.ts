import type { ShellEndReason } from "../../../events/snapshots.ts";
import type { StartOptions } from "../programs.ts";

export type ShellEnd = { readonly endReason: ShellEndReason; readonly exitCode: number | null; readonly signal: string | null };

export type FoundShell = { readonly shellId: string; readonly command: string; readonly end: ShellEnd | null };

export type ShellOutput = { readonly text: string; readonly from: number; readonly to: number; readonly total: number };

export type ShellPiece = { readonly since: number; readonly bytes: number; readonly lines: number };

/** `output` is null if another server has it: `server` names that server. */
export type ShellLogs = FoundShell & { readonly output: ShellOutput | null; readonly server: string };

export type Shells = {
  /**
   * Starts a command line that outlives its call, for `timeoutMs` or the maximum, and returns its id. Throws with
   * advice if the agent may start no more.
   */
  start(
    command: string,
    argv: readonly [file: string, ...args: string[]],
    options: StartOptions & { readonly timeoutMs: number | null },
  ): Promise<string>;
  /** Null if the agent has no such shell. */
  logs(shellId: string, piece: ShellPiece): Promise<ShellLogs | null>;
  /** Kills a shell and its descendants, and waits for its end; null if the agent has no such shell. */
  kill(shellId: string): Promise<FoundShell | null>;
};
