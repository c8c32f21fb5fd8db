import type { CompactionMethod, CompactionState } from "../../db/commit/compaction-rows.ts";
import type { Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import type { Compacted } from "./window.ts";

/** A compaction that is asked for or under way. */
export type OpenCompaction = {
  readonly id: string;
  readonly method: CompactionMethod;
  readonly state: Extract<CompactionState, "ASKED" | "STARTED">;
  readonly from: number | null;
  readonly to: number | null;
  readonly epoch: number | null;
  readonly model: string | null;
  readonly tokensBefore: number | null;
  readonly instruction: string | null;
  readonly askedBy: ActorRef | null;
};

/** The compactions of an agent. */
export type Compaction = {
  /** The applied one that leaves out messages, up to an ordinal, from a step on; null for none. */
  readonly head: { readonly id: string; readonly to: number; readonly step: number; readonly isErased: boolean } | null;
  /** Outputs are cleared up to this message; -1 for none. */
  readonly clearedTo: number;
  /** The step from which the newest applied one counts; 0 for none. */
  readonly step: number;
  readonly open: OpenCompaction | null;
};

/** The compactions of agent `a`, as JSON; null if it has none. */
export const COMPACTION_VIEW = `(SELECT json_build_object(
    'head', (SELECT json_build_object('id', c.id, 'to', c.to_ordinal, 'step', c.applied_at_step, 'isErased', c.erased_at IS NOT NULL) FROM compaction c
      WHERE c.agent_id = a.id AND c.state = 'APPLIED' AND c.method <> 'CLEARED' ORDER BY c.to_ordinal DESC, c.id DESC LIMIT 1),
    'clearedTo', coalesce(max(c.to_ordinal) FILTER (WHERE c.state = 'APPLIED' AND c.method = 'CLEARED'), -1),
    'step', coalesce(max(c.applied_at_step), 0),
    'open', (SELECT json_build_object('id', c.id, 'method', c.method, 'state', c.state, 'from', c.from_ordinal, 'to', c.to_ordinal, 'epoch', c.epoch, 'model', c.model, 'tokensBefore', c.tokens_before, 'instruction', c.instruction, 'askedBy', CASE WHEN c.requested_by IS NOT NULL THEN json_build_object('id', c.requested_by, 'kind', c.requested_by_kind) END)
      FROM compaction c WHERE c.agent_id = a.id AND c.state IN ('ASKED', 'STARTED')))
  FROM compaction c WHERE c.agent_id = a.id HAVING count(*) > 0)`;

/** The texts of an applied compaction. The summary of an earlier one stays where messages were left out without a new one. */
export const READ_COMPACTED: Statement<Omit<Compacted, "to" | "clearedTo">, [id: string]> = {
  name: "read_compacted",
  text: `SELECT c.words_from AS "wordsFrom", c.restated,
      (SELECT s.summary FROM compaction s WHERE s.agent_id = c.agent_id AND s.state = 'APPLIED' AND s.method = 'SUMMARY' AND s.erased_at IS NULL AND s.to_ordinal <= c.to_ordinal
       ORDER BY s.to_ordinal DESC, s.id DESC LIMIT 1) AS summary
    FROM compaction c WHERE c.id = $1`,
};
