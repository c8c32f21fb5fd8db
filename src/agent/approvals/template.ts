import { Type } from "typebox";
import { COUNT, withDefault, type Complete } from "../../lib/setting.ts";
import type { CallTemplate } from "../calls/template.ts";

/** The settings of a template about the approvals of its agents' calls. */
export const APPROVAL_SETTINGS = {
  /** True if people may decide on what they asked for themselves. False if omitted. */
  selfApproval: withDefault(Type.Boolean(), false),
  /** The number of people who must allow a call, up to 20. 1 if omitted. */
  approvalQuorum: withDefault(Type.Integer({ minimum: 1, maximum: 20 }), 1),
  /** After so long, in ms, an approval that nobody decided expires, and its call is denied. Never if omitted. */
  approvalExpiresMs: withDefault(COUNT, null),
};

/** The part of a template about the approvals of its agents' calls. */
export type ApprovalTemplate = CallTemplate & Complete<typeof APPROVAL_SETTINGS>;
