import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { findHarbour, HARBOURS } from "./harbour.ts";

test("a harbour is found by its name, whatever the case", () => {
  deepEqual(findHarbour("BREST"), HARBOURS[0]);
  equal(findHarbour("Atlantis"), undefined);
});

test("spaces around a name do not matter", () => {
  deepEqual(findHarbour(" brest "), HARBOURS[0]);
});
