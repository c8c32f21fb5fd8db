import { Type } from "typebox";
import type { Sql } from "../../db/sql.ts";
import { milliseconds, withDefault, type Complete } from "../../lib/setting.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { JudgeServices, CallTemplate } from "../calls/scope.ts";
import type { HeldTemplate } from "../policy/held-template.ts";
import type { OwnCodeServices } from "../tools/own-code.ts";

export const APPROVAL_SETTINGS = {
  /** True if people may decide on what they asked for themselves. False if omitted. */
  selfApproval: withDefault(Type.Boolean(), false),
  /** The number of people who must allow a call, up to 20. 1 if omitted. */
  approvalQuorum: withDefault(Type.Integer({ minimum: 1, maximum: 20 }), 1),
  /** The time after which an undecided approval expires and its call is denied, in ms, up to ten years. Never if omitted. */
  approvalExpiresMs: withDefault(milliseconds(10 * 365 * DAY_MS), null),
};

export type ApprovalTemplate = CallTemplate & Complete<typeof APPROVAL_SETTINGS>;

export type ApprovalServices = JudgeServices &
  OwnCodeServices & {
    readonly reads: Sql;
    readonly heldTemplate: HeldTemplate<ApprovalTemplate>;
    /** The ids of all who may decide in a tenant; null if the server does not know them. */
    readonly decidersOf: (tenant: string) => readonly string[] | null;
  };
