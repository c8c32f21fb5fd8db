import type { Row } from "../queue.ts";
import { BATCH } from "./entries.ts";
import { commonFacts, wholeInput } from "./shape.ts";

/** The most rows whose longer inputs the page reads, and those of one request. Each input has at most 4,000 characters. */
const MOST_ROWS = 500;
const AT_ONCE = 50;

/**
 * The next rows whose whole input is worth reading: the list has its beginning only, and enough questions have the same
 * template, tool and rule. `tried` are the ids of rows that were read before.
 */
export function longRows(rows: Iterable<Row>, tried: ReadonlySet<string>): readonly Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const facts = commonFacts(row);
    if (facts === null) continue;
    const key = JSON.stringify(facts);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const found = [...groups.values()]
    .filter(({ length }) => length >= BATCH.fewest)
    .flatMap((group) => group.filter((row) => !tried.has(row.id) && wholeInput(row) === null));
  return found.slice(0, Math.max(0, Math.min(AT_ONCE, MOST_ROWS - tried.size)));
}

/** The row with more of its input. Null if that is still not the whole, or of another input than the row's. */
export function withLongInput(row: Row, inputHash: string | null, text: string | null): Row | null {
  if (row.toolCall === null || inputHash === null || inputHash !== row.inputHash || text === null) return null;
  const longer = { ...row, toolCall: { ...row.toolCall, inputPreview: text } };
  return wholeInput(longer) === null ? null : longer;
}
