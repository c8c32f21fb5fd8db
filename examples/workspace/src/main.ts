import { clock } from "./clock.mjs";
import { findHarbour } from "./harbour.ts";
import { highWaters } from "./tide.ts";

const name = process.argv[2] ?? "Brest";
const harbour = findHarbour(name);
if (harbour === undefined) {
  // TODO: suggest the harbour whose name is nearest to what was typed
  console.error(`There is no harbour ${name}.`);
  process.exitCode = 1;
} else {
  for (const time of highWaters(harbour, new Date(), 4)) console.log(`${harbour.name}  ${time.toISOString().slice(0, 10)} ${clock(time)}`);
}
