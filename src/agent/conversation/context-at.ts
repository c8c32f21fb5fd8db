import type { SentRecord } from "../../db/commit/sent-rows.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ToolDescription } from "../models/model.ts";
import type { Compaction } from "./compaction.ts";
import { presentImages, REMOVED_IMAGE, type StoredBlock } from "./images.ts";
import { hashOfRequest, withChange, type FrameRow, type SentMessage, type SentSettings } from "./sent-request.ts";
import { modelMessages, type Transcripts } from "./transcript.ts";
import { windowOf } from "./window.ts";

/** A part of a request that the rows no longer give, or never gave. */
export type ContextPart = "REQUEST" | "SYSTEM" | "TOOLS" | "SETTINGS" | "MESSAGES" | "SUMMARY";

/** The request of a step, made again of rows; null where a part is gone. */
export type StepContext = {
  readonly step: number;
  readonly turn: number;
  readonly model: string;
  /** The SHA-256 of the request in hex, as it was sent. Null if the step has not ended, or made no request. */
  readonly hash: string | null;
  /** True if the request that is made again has the same hash. */
  readonly isProved: boolean;
  readonly missing: readonly ContextPart[];
  readonly system: string | null;
  readonly tools: readonly ToolDescription[] | null;
  readonly settings: (SentSettings & { readonly isFirstOfTurn: boolean }) | null;
  readonly messages: readonly SentMessage[];
};

type StepRow = Pick<StepContext, "step" | "turn" | "model"> & {
  readonly request: SentRecord<SentMessage> | null;
  readonly frame: FrameRow | null;
  readonly system: string | null;
  readonly tools: readonly ToolDescription[] | null;
  readonly head: Compaction["head"];
  readonly clearedTo: number;
  readonly isErased: boolean;
};

const PART = (digest: string): string =>
  `(SELECT p.body::json FROM request_part p WHERE p.tenant = s.tenant AND p.digest = ${digest})`;

const APPLIED = "c.agent_id = s.agent_id AND c.state = 'APPLIED' AND c.applied_at_step <= s.step";

/** The step, its parts, and the compactions that held then. */
const READ: Statement<StepRow, [agentId: string, step: number]> = {
  name: "read_context_at",
  text: `SELECT s.step, s.turn, s.model, s.request, f.frame, ${PART("f.frame ->> 'system'")} AS system, ${PART("f.frame ->> 'tools'")} AS tools,
      (SELECT json_build_object('id', c.id, 'to', c.to_ordinal, 'isErased', c.erased_at IS NOT NULL, 'step', c.applied_at_step) FROM compaction c
        WHERE ${APPLIED} AND c.method <> 'CLEARED' ORDER BY c.to_ordinal DESC, c.id DESC LIMIT 1) AS head,
      coalesce((SELECT max(c.to_ordinal) FROM compaction c WHERE ${APPLIED} AND c.method = 'CLEARED'), -1) AS "clearedTo",
      EXISTS (SELECT FROM message m WHERE m.agent_id = s.agent_id AND m.ordinal < (s.request ->> 'length')::int AND m.erased_at IS NOT NULL) AS "isErased"
    FROM step s CROSS JOIN LATERAL (SELECT ${PART("s.request ->> 'frame'")} AS frame) f WHERE s.agent_id = $1 AND s.step = $2`,
};

type Reads = { readonly sql: Sql; readonly transcripts: Transcripts };

/**
 * The request of a step. Messages and compactions are rows that later steps leave as they are, so that the
 * window is made again by the function that made it. Null if the agent has no such step.
 */
export async function contextAt(
  { sql, transcripts }: Reads,
  { tenant, agentId, step }: { readonly tenant: string; readonly agentId: string; readonly step: number },
): Promise<StepContext | null> {
  const [row] = await sql.query(READ, [agentId, step]);
  if (row === undefined) return null;
  const { turn, model, request, frame, system, tools } = row;
  const facts = { step, turn, model, hash: request?.hash ?? null, system, tools };
  if (request === null || frame === null) {
    const missing: ContextPart[] = request === null ? ["REQUEST"] : ["SETTINGS", "SYSTEM", "TOOLS"];
    return { ...facts, settings: null, messages: [], isProved: false, missing };
  }
  const { exposeThinking, settings, shape, contextMessages } = frame;
  const sent = { exposeThinking, settings, shape, isFirstOfTurn: request.isFirstOfTurn };
  const transcript = transcripts.of(sql, tenant, agentId);
  const compaction = { head: row.head, clearedTo: row.clearedTo, step, open: null };
  const { messages: loaded, compacted } = await transcript.load(
    { transcriptLength: request.length, compaction },
    contextMessages,
  );
  transcript.invalidate();
  const window = modelMessages(windowOf(loaded, compacted, contextMessages));
  const made = withChange(window, request.changed);
  const proves = (messages: readonly SentMessage[]): boolean =>
    system !== null && tools !== null && hashOfRequest(messages, { ...sent, system, tools }) === request.hash;
  const messages = proves(made) ? made : await withoutRemoved(sql, tenant, made);
  const isProved = proves(messages);
  const missing = isProved ? [] : missingOf(row);
  return { ...facts, settings: sent, messages, isProved, missing };
}

/** The messages with notes in the place of removed images, as a step after the removal sends them. */
async function withoutRemoved(sql: Sql, tenant: string, messages: readonly SentMessage[]): Promise<readonly SentMessage[]> {
  const digests = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "image" ? [block.source.digest] : [])),
  );
  if (digests.length === 0) return messages;
  const present = await presentImages(sql, tenant, digests);
  const noted = (block: StoredBlock): StoredBlock =>
    block.type === "image" && !present.has(block.source.digest) ? REMOVED_IMAGE : block;
  return messages.map(({ role, content }) => ({ role, content: content.map(noted) }));
}

function missingOf({ system, tools, head, isErased }: StepRow): readonly ContextPart[] {
  return [
    ...(system === null ? (["SYSTEM"] as const) : []),
    ...(tools === null ? (["TOOLS"] as const) : []),
    ...(isErased ? (["MESSAGES"] as const) : []),
    ...(head?.isErased === true ? (["SUMMARY"] as const) : []),
  ];
}
