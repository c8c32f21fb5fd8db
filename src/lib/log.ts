/** The messages of the server to its operator. One line a message; never a secret, never the content of a conversation. */
export type Logger = {
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
};

/** Writes to the standard streams; an error's stack is included. */
export const consoleLogger: Logger = {
  warn: (message) => console.warn(`warning: ${message}`),
  error: (message, cause) => console.error(`error: ${message}${cause === undefined ? "" : `: ${describe(cause)}`}`),
};

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
