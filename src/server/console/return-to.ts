/** The page of the console that people see first. */
const FIRST_PAGE = "/console";
const LONGEST = 2_000;

/**
 * The page to open after sign-in: the wanted one if it is a page of the console, otherwise the first. The text may come
 * from a link that somebody else wrote: no other origin, scheme or path is opened.
 */
export function returnTo(wanted: unknown): string {
  return typeof wanted === "string" && isOfConsole(wanted) ? wanted : FIRST_PAGE;
}

function isOfConsole(wanted: string): boolean {
  // Browsers read a backslash as a slash, and leave out tabs and line breaks.
  if (wanted.length > LONGEST || !/^\/console(?:[/?#]|$)/.test(wanted) || /[\\\p{C}\s]/u.test(wanted)) return false;
  const [path = ""] = wanted.split(/[?#]/, 1);
  // An encoded dot or slash is decoded by some proxies.
  if (/%(?:2e|2f|5c)|\/\//i.test(path) || path.split("/").some((part) => part === "." || part === "..")) return false;
  const base = "https://console.invalid";
  return (
    URL.canParse(wanted, base) && new URL(wanted, base).origin === base && new URL(wanted, base).pathname.startsWith("/console")
  );
}
