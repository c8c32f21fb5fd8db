import type { Row } from "../queue.ts";
import { shapeOf } from "./shape.ts";

/** Alike questions under one row. */
export type Batch = { readonly kind: "batch"; readonly id: string; readonly rows: readonly Row[]; readonly isOpen: boolean };

/** A line of the list. A question of an open batch stands below the batch. */
export type Entry = { readonly kind: "question"; readonly id: string; readonly row: Row; readonly isInBatch: boolean } | Batch;

/** The fewest questions that are put together, and the most that are decided at once. */
export const BATCH = { fewest: 3, most: 50 };

const PREFIX = "batch-";

export function isBatchId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The lines of the list: alike rows are put together where the first of them stands. The order stays. */
export function entriesOf(rows: readonly Row[], opened: ReadonlySet<string>): readonly Entry[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const shape = shapeOf(row);
    if (shape === null) continue;
    const group = groups.get(shape);
    if (group === undefined) groups.set(shape, [row]);
    else group.push(row);
  }
  const batches = new Map<Row, Batch | null>();
  for (const [shape, group] of groups) {
    for (let at = 0; at < group.length; at += BATCH.most) {
      const alike = group.slice(at, at + BATCH.most);
      if (alike.length < BATCH.fewest) continue;
      const id = `${PREFIX}${hashOf(shape)}${at === 0 ? "" : `-${at / BATCH.most}`}`;
      const batch: Batch = { kind: "batch", id, rows: alike, isOpen: opened.has(id) };
      alike.forEach((row, index) => batches.set(row, index === 0 ? batch : null));
    }
  }
  return rows.flatMap((row): readonly Entry[] => {
    const batch = batches.get(row);
    if (batch === undefined) return [{ kind: "question", id: row.id, row, isInBatch: false }];
    if (batch === null) return [];
    const members = batch.rows.map((each): Entry => ({ kind: "question", id: each.id, row: each, isInBatch: true }));
    return batch.isOpen ? [batch, ...members] : [batch];
  });
}

/** The rows of a batch; none if the list has no such batch. */
export function batchRows(entries: readonly Entry[], id: string): readonly Row[] {
  const found = entries.find((entry) => entry.id === id);
  return found?.kind === "batch" ? found.rows : [];
}

/** A short name of a text for the address: no secret, and the same on every page. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(36);
}
