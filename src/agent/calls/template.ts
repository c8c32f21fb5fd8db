import type { Permission } from "../policy/permission.ts";
import type { CallHooks } from "./hooks.ts";

/** The part of a template about its agents' calls. */
export type CallTemplate = {
  readonly id: string;
  /** Names of the tools its agents have; null for all. */
  readonly tools: readonly string[] | null;
  readonly permission: Permission;
  readonly hooks: CallHooks;
  /** After so long a call fails, unless its tool or its agent says otherwise. In ms. */
  readonly toolTimeoutMs: number;
  /** A tool that runs longer, in ms, is reported as an ERROR of severity WARN. */
  readonly slowToolMs: number;
  /** True if the pipeline's six events are emitted for each call. */
  readonly trace: boolean;
};
