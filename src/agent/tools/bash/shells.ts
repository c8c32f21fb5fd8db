import type { ShellEndReason } from "../../../events/snapshots.ts";
import type { StartOptions } from "../programs.ts";

/** The end of a background shell: why it ended, by which code or signal. */
export type ShellEnd = { readonly endReason: ShellEndReason; readonly exitCode: number | null; readonly signal: string | null };

/** A background shell as its row stands: null for `end` while it runs. */
export type FoundShell = { readonly shellId: string; readonly command: string; readonly end: ShellEnd | null };

/** A piece of what a background shell said, from byte `from` to byte `to` of the `total` that it has said so far. */
export type ShellOutput = { readonly text: string; readonly from: number; readonly to: number; readonly total: number };

/** The most of an output that is read at once. */
export type ShellPiece = { readonly since: number; readonly bytes: number; readonly lines: number };

/** A shell with a piece of what it said; `output` is null if another server has that: `server` names it. */
export type ShellLogs = FoundShell & { readonly output: ShellOutput | null; readonly server: string };

/** The background shells of an agent. Those of other agents do not exist for it. */
export type Shells = {
  /** Starts a command line that outlives its call, for `timeoutMs` or the most that there is, and gives its id. Throws, with what to do, if the agent may start no more. */
  start(
    command: string,
    argv: readonly [file: string, ...args: string[]],
    options: StartOptions & { readonly timeoutMs: number | null },
  ): Promise<string>;
  /** A piece of what a shell said; null if the agent has no such shell. */
  logs(shellId: string, piece: ShellPiece): Promise<ShellLogs | null>;
  /** Ends a shell with all that it started, and waits until it has ended; null if the agent has no such shell. */
  kill(shellId: string): Promise<FoundShell | null>;
};
