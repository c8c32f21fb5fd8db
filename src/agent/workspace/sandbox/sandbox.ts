import type { HostDecision } from "../network/reach.ts";
import type { ProgramLease, ProcessGroup } from "../process-groups.ts";
import type { FoundInWorkspace } from "./covered-paths.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

/** The waits of a call's programs for their boxes, with reasons: a call that times out reports them. */
export class Waits {
  readonly #reasons = new Set<{ readonly reason: string }>();

  /** The reason of the longest wait, as words after "since"; null for none. */
  get reason(): string | null {
    const [longest] = this.#reasons;
    return longest?.reason ?? null;
  }

  async during<Result>(reason: string, wait: Promise<Result>): Promise<Result> {
    const waiting = { reason };
    this.#reasons.add(waiting);
    try {
      return await wait;
    } finally {
      this.#reasons.delete(waiting);
    }
  }
}

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

export type SandboxDemand = "none" | "required";

export type Sandboxes = { readonly none: Sandbox; readonly box: Sandbox | null };

/** The sandbox for programs of this template's agents. Without boxes, a template that requires one starts no programs. */
export function sandboxFor({ none, box }: Sandboxes, { sandbox }: { readonly sandbox: SandboxDemand }): Sandbox {
  switch (sandbox) {
    case "none":
      return none;
    case "required":
      return box ?? NO_BOX;
  }
}

const NO_BOX: Sandbox = {
  kind: "bubblewrap",
  start: () =>
    Promise.reject(
      new SandboxRefused("programs of this agent run in a box only, and this server makes none: install bubblewrap"),
    ),
};
