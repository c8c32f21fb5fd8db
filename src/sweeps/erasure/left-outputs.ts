import type { ToolOutputs } from "../../agent/calls/outputs.ts";
import type { Statement } from "../../db/sql.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { CHUNK, type Removal } from "../removal.ts";

/** Those of the ids that belong to no call and no shell with content: their rows are gone, or erased. */
const LEFT: Statement<{ id: string }, [ids: readonly string[]]> = {
  name: "left_outputs",
  text: `SELECT k.id FROM unnest($1::text[]) AS k(id)
    WHERE NOT EXISTS (SELECT FROM tool_call t WHERE t.id = k.id AND t.erased_at IS NULL)
      AND NOT EXISTS (SELECT FROM shell s WHERE s.id = k.id AND s.command <> '')`,
};

/** Kept outputs on this server of calls and shells that were erased, or deleted with their agents. */
export function leftOutputs(outputs: Pick<ToolOutputs, "ids" | "remove">): Removal {
  return {
    rows: "outputs of erased calls",
    everyMs: HOUR_MS,
    remove: async (sql, mayRemove) => {
      const ids = await outputs.ids();
      let removed = 0;
      for (let from = 0; from < ids.length && mayRemove(); from += CHUNK) {
        const left = await sql.query(LEFT, [ids.slice(from, from + CHUNK)]);
        for (const { id } of left) if (await outputs.remove(id)) removed += 1;
      }
      return removed;
    },
  };
}
