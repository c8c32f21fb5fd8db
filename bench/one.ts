import { BENCHES } from "./benches.ts";

/** `one.ts NAME [URL [TURNS]]`: runs one bench, sends its figures to the process that started this one, and ends. It ends with that process, too. */
const [name = "", url = "", turns] = process.argv.slice(2);
process.once("disconnect", () => process.exit(1));
const bench = BENCHES.get(name);
if (bench === undefined) throw new Error(`there is no bench ${name}`);
const figures = await (bench.on === "postgres"
  ? bench.measure(url, turns === undefined ? undefined : Number(turns))
  : bench.measure());
process.send?.([figures].flat(), undefined, undefined, () => process.exit(0));
