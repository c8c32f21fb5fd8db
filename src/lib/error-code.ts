/** The code of an error of Node's or of the system's, such as ENOENT; null if it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
