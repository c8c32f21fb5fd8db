import type { RefObject } from "react";
import { useKeys } from "./keys.ts";

/** The rows of a table. */
const ROWS = '[role="rowgroup"] > [role="row"], tbody > tr';
/** The part of a row that opens it. */
const OPENER = "a[href], button:not(.fold)";

/** The keys j and k move the focus to the next and the previous row of a table, and into the first row in view at first. */
export function useRowKeys(box: RefObject<HTMLElement | null>): void {
  const move = (step: 1 | -1): void => {
    const place = box.current;
    if (place === null) return;
    const rows = [...place.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.querySelector(OPENER) !== null);
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const { top } = place.getBoundingClientRect();
    const next = at < 0 ? rows.find((row) => row.getBoundingClientRect().top >= top) : rows[at + step];
    next?.querySelector<HTMLElement>(OPENER)?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}
