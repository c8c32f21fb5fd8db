import type { HostDecision } from "../network/reach.ts";
import type { ProgramLease } from "../program-lease.ts";
import type { ProcessGroup } from "../process-groups.ts";
import type { FoundInWorkspace } from "./covered-paths.ts";
import type { Waits } from "./waits.ts";

export type Program = {
  /** The file, looked for in PATH, and its arguments; without a shell. */
  readonly argv: readonly [file: string, ...args: string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workspace: string;
  readonly home: string;
  /**
   * Searches the present workspace for files that the agent may not read, which a box covers. Also finds repositories,
   * whose hooks and configurations a box protects. Not called without a box.
   */
  readonly look: () => Promise<FoundInWorkspace>;
  /** Decides about hosts at each connection; null for no network. Without a box all are reachable. */
  readonly network: HostDecision | null;
  readonly isBackground: boolean;
  readonly lease: ProgramLease;
  /** Resolves with true when the file system of the workspace answers; with false when `signal` aborts first. */
  readonly answering: (signal: AbortSignal) => Promise<boolean>;
};

export type Sandbox = {
  readonly kind: "bubblewrap" | "none";
  /**
   * Throws SandboxRefused, with advice, if the program may not be started at present. `signal` ends a wait, which
   * `waits` records.
   */
  start(program: Program, signal: AbortSignal, waits?: Waits): Promise<ProcessGroup>;
};
