import { HOUR_MS } from "../../lib/time.ts";
import { leftRows, removeLeft } from "../left-rows.ts";
import type { Removal } from "../removal.ts";

/** The images of one statement: they may have 3.75 MB each. */
const IMAGES = 50;

const LEFT = leftRows("image", "agent_image a WHERE a.tenant = r.tenant AND a.digest = r.digest", IMAGES);

/** Images that no message and no result shows: those were erased, or deleted with their agents. */
export const LEFT_IMAGES: Removal = {
  rows: "images of erased messages and calls",
  everyMs: HOUR_MS,
  remove: (sql, mayRemove) => removeLeft(sql, LEFT, mayRemove),
};
