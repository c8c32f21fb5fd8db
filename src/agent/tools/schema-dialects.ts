import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Json } from "../../lib/json.ts";

export type Dialect = {
  readonly name: string;
  readonly make: (options: Options) => Pick<Ajv, "compile" | "validateSchema" | "errors">;
};

/** The drafts of JSON Schema that are checked, as `$schema` names them. */
export const DRAFTS = "draft-07 and earlier, 2019-09, 2020-12";

/** True if `$schema` is absent, or names a draft that is checked by its own rules. */
export function isKnownDialect(written: Json | undefined): boolean {
  return (
    written === undefined ||
    (typeof written === "string" && /draft-0[3-7]|2019-09|2020-12|json-schema\.org\/schema/.test(written))
  );
}

/** The dialect that `$schema` names: draft-07 also for earlier ones, 2020-12 by default. */
export function dialectOf(written: Json | undefined): Dialect {
  const said = typeof written === "string" ? written : "";
  if (/draft-0[3-7]/.test(said)) return { name: "draft-07", make: (options) => new Ajv(options) };
  if (said.includes("2019-09")) return { name: "2019-09", make: (options) => new Ajv2019(options) };
  return { name: "2020-12", make: (options) => new Ajv2020(options) };
}
