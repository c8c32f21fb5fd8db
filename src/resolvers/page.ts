import { clientError } from "./errors.ts";

/** The most entries of one page of a connection. */
export const MAX_PAGE = 100;
/** Entries of a page if the client does not say. */
export const DEFAULT_PAGE = 50;

/** The arguments of a connection. */
export type PageArguments = {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
};

/** A place in a connection, as Pothos writes it: base64 of a prefix and the row's id. */
const PLACE = /^GPC:S:[0-9a-f-]{36}$/;

/** Refuses page sizes that make no sense, and places that no connection gave. */
export function checkPage({ first, last, after, before }: PageArguments, most = MAX_PAGE): void {
  for (const [name, place] of [
    ["after", after],
    ["before", before],
  ] as const) {
    if (typeof place === "string" && !PLACE.test(Buffer.from(place, "base64").toString("utf8")))
      throw clientError("BAD_USER_INPUT", `\`${name}\` must be a cursor that a connection gave`);
  }
  for (const [name, size] of [
    ["first", first],
    ["last", last],
  ] as const) {
    if (size !== null && size !== undefined && (size < 1 || size > most))
      throw clientError("BAD_USER_INPUT", `\`${name}\` must be between 1 and ${most}, not ${size}`);
  }
  if (typeof first === "number" && typeof last === "number")
    throw clientError("BAD_USER_INPUT", "give `first` or `last`, not both");
}
