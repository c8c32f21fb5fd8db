import type { HostDecision } from "../network/reach.ts";
import type { ProgramLease } from "../program-lease.ts";
import type { ProcessGroup } from "../process-groups.ts";
import type { FoundInWorkspace } from "./covered-paths.ts";
import type { Waits } from "./waits.ts";

/** A program that a call starts, and what it may reach. */
export type Program = {
  /** The file, looked for in PATH, and its arguments; no shell interprets them. */
  readonly argv: readonly [file: string, ...args: string[]];
  /** The real path of the folder in which the program starts; it lies in the workspace. */
  readonly folder: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The real path of the agent's workspace. */
  readonly workspace: string;
  /** The real path of the agent's own HOME, which the server has made. */
  readonly home: string;
  /**
   * Looks through the workspace as it is now for files that the agent may not read, which a box covers, and for repositories,
   * of which a box protects hooks and configurations. A program without a box asks nobody to look.
   */
  readonly look: () => Promise<FoundInWorkspace>;
  /** Says which hosts it may reach; null for none. Asked at each connection. Without a box it reaches all. */
  readonly network: HostDecision | null;
  /** True if the program outlives its call. */
  readonly isBackground: boolean;
  /** The program is killed when it is over. */
  readonly lease: ProgramLease;
  /** Resolves with true when the file system of the workspace answers; with false when `signal` aborts first. */
  readonly answering: (signal: AbortSignal) => Promise<boolean>;
};

/** Starts programs of calls: in a box (bubblewrap), or without one (process groups). */
export type Sandbox = {
  readonly kind: "bubblewrap" | "none";
  /**
   * Starts a program. Throws SandboxRefused, with what to do, if it may not be started as things are. `signal` ends a wait, and
   * `waits` is told of it.
   */
  start(program: Program, signal: AbortSignal, waits?: Waits): Promise<ProcessGroup>;
};
