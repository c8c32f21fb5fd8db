/** The wait that the headers of an answer name, in ms: seconds, milliseconds or a date (RFC 9110, 10.2.3). Null for none. */
export function retryAfterOf(headers: Headers | undefined): number | null {
  const milliseconds = headers?.get("retry-after-ms") ?? "";
  if (milliseconds !== "" && Number.isFinite(Number(milliseconds))) return Math.max(0, Number(milliseconds));
  const after = headers?.get("retry-after") ?? "";
  if (after === "") return null;
  const wait = Number.isFinite(Number(after)) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}
