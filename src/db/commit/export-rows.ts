import type { Prisma } from "../generated/client.ts";
import type { Row } from "./row.ts";

export const EXPORT_SUBJECTS = ["TOOL_CALLS", "APPROVALS", "DECISIONS", "MESSAGES", "STEPS", "TURNS", "EVENTS"] as const;
export type ExportSubject = (typeof EXPORT_SUBJECTS)[number];

export const EXPORT_FORMATS = ["CSV", "NDJSON"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_STATES = ["RUNNING", "DONE", "FAILED", "CANCELLED"] as const;
export type ExportState = (typeof EXPORT_STATES)[number];

export type NewExport = Row<Omit<Prisma.ExportUncheckedCreateInput, "since" | "asOf" | "bytes" | "keptBytes" | "state">> & {
  readonly since: number | null;
  readonly asOf: number;
  readonly bytes: number;
  readonly keptBytes: number;
  readonly state: ExportState;
};

/** Refused unless the export's state is one of `from`. `due`: the time at which its row goes. The file goes now, but of one that is DONE. */
export type ExportEnd = {
  readonly id: string;
  readonly from: readonly ExportState[];
  readonly state: ExportState;
  readonly problem: string | null;
  readonly endedAt: Date;
  readonly due: Date;
};
