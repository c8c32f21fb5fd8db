import { Type } from "typebox";
import { COUNT, milliseconds, TEXTS, withDefault, type Complete } from "../../lib/setting.ts";
import type { Permission, PolicyBox } from "../policy/permission.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";
import type { CallHooks } from "./hooks.ts";

export const CALL_SETTINGS = {
  /** Names of the tools that its agents have. All if omitted. */
  tools: withDefault(TEXTS, null),
  /** The time limit of a call, unless its tool or its agent says otherwise; in ms, up to an hour. 60,000 if omitted. */
  toolTimeoutMs: withDefault(milliseconds(MAX_TIMEOUT_MS), 60_000),
  /** A tool that runs longer, in ms, is reported as an ERROR of severity WARN. 30,000 if omitted. */
  slowToolMs: withDefault(COUNT, 30_000),
  /** The number of background shells that an agent may have running. 8 if omitted. */
  backgroundShells: withDefault(COUNT, 8),
  /** The time limit of a background shell; in ms, up to a day. 3,600,000 if omitted. */
  backgroundShellMs: withDefault(milliseconds(24 * 60 * 60 * 1_000), 3_600_000),
  /** True if the pipeline's events (EXECUTION_STARTED, STAGE_STARTED …) are emitted for each call. False if omitted. */
  trace: withDefault(Type.Boolean(), false),
  /**
   * The sandbox of its agents' programs: `none`, or `required`, without which no program starts (docs/sandbox.md).
   * `none` if omitted.
   */
  sandbox: withDefault(Type.Enum(["none", "required"]), "none"),
};

export type CallTemplate = Complete<typeof CALL_SETTINGS> & {
  readonly id: string;
  readonly permission: Permission;
  /** The box in which its agents' programs run; null without one. */
  readonly box: PolicyBox | null;
  readonly hooks: CallHooks;
};
