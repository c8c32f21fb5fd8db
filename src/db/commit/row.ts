import type { Json } from "../../lib/json.ts";
import type { Prisma } from "../generated/client.ts";

/** The values of a column: JSON where Prisma takes JSON. */
type Value<Input> = Prisma.InputJsonValue extends Input ? Json : Exclude<Input, undefined>;

/** A row for insertion: every column is given, since the database takes an absent one as null. */
export type Row<Input> = { readonly [Column in keyof Input]-?: Value<Input[Column]> };

/** Columns to set. Absent columns keep their value. */
export type Patch<Input> = { readonly [Column in keyof Input]?: Value<Input[Column]> };
