import type { CallTemplate } from "../calls/template.ts";

/** The part of a template about the approvals of its agents' calls. */
export type ApprovalTemplate = CallTemplate & {
  /** True if people may decide on what they asked for themselves. */
  readonly selfApproval: boolean;
  /** The number of people who must allow a call. */
  readonly approvalQuorum: number;
  /** After so long an approval that nobody decided expires, and its call is denied; null for never. In ms. */
  readonly approvalExpiresMs: number | null;
};
