import type { ModelRequest, ToolDescription } from "../models/model.ts";

/**
 * The size of a context after an answer. `tokens` as the provider counted the request, with the answer by the same measure; null without a count. `at` in ms since 1970. `frame` is the digest of the request's fixed parts.
 */
export type MeasuredContext = {
  readonly step: number;
  readonly tokens: number | null;
  readonly bytes: number;
  readonly at: number;
  readonly frame: string | null;
};

/** The newest measure of agent `a`, as JSON. */
export const MEASURED_CONTEXT = `(SELECT json_build_object('step', s.step, 'tokens', s.context_tokens, 'bytes', s.context_bytes, 'at', (extract(epoch FROM s.completed_at) * 1000)::float8, 'frame', s.request ->> 'frame')
    FROM step s WHERE s.agent_id = a.id AND s.step > a.step_count - 20 AND s.context_bytes IS NOT NULL ORDER BY s.step DESC LIMIT 1)`;

/** A token of English text has about four bytes. Counts beyond these bounds are not believed. */
const USUAL = 1 / 4;
const LEAST = 1 / 12;
const MOST = 1;

/** The tokens of a byte in this conversation, learned from the newest count. */
export function tokensPerByte(measured: Pick<MeasuredContext, "tokens" | "bytes"> | null): number {
  if (measured === null || measured.tokens === null) return USUAL;
  const ratio = measured.tokens / Math.max(1, measured.bytes);
  return ratio < LEAST || ratio > MOST ? USUAL : ratio;
}

const WEIGHTS = new WeakMap<object, number>();

/** The bytes of a part in JSON. Parts are the same objects in each step. */
function weightOf<Part extends object>(part: Part, sent: (part: Part) => object): number {
  const known = WEIGHTS.get(part);
  if (known !== undefined) return known;
  const weight = Buffer.byteLength(JSON.stringify(sent(part)));
  WEIGHTS.set(part, weight);
  return weight;
}

function toolWeight(tool: ToolDescription): number {
  return weightOf(tool, ({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/** The parts of a request that its messages do not change. */
export type FixedParts = Pick<ModelRequest, "system" | "tools" | "shape">;

/** The bytes of the fixed parts of a request. The schema of an answer counts with the tools. */
export type Overhead = { readonly system: number; readonly tools: number };

export function overheadOf({ system, tools, shape }: FixedParts): Overhead {
  const answer = shape === null ? 0 : weightOf(shape, (schema) => schema);
  return { system: Buffer.byteLength(system), tools: tools.reduce((sum, tool) => sum + toolWeight(tool), answer) };
}
