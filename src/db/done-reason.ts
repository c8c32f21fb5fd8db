export const DONE_REASONS = ["COMPLETED", "INTERRUPTED", "ERROR", "MAX_STEPS"] as const;
export type DoneReason = (typeof DONE_REASONS)[number];
