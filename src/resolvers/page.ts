import { clientError } from "./errors.ts";

/** The most entries of one page of a connection. */
export const MAX_PAGE = 100;
/** Entries of a page where the client does not say. */
export const DEFAULT_PAGE = 50;

/** Refuses page sizes that make no sense. */
export function checkPage(
  { first, last }: { readonly first?: number | null | undefined; readonly last?: number | null | undefined },
  most = MAX_PAGE,
): void {
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
