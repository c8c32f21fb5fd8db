/** How the server speaks to its operator. One line a message; never a secret, never the content of a conversation. */
export type Logger = {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
};

/** Writes to the standard streams; an error's stack is included. */
export const consoleLogger: Logger = {
  info: (message) => console.log(message),
  warn: (message) => console.warn(`warning: ${message}`),
  error: (message, cause) => console.error(`error: ${message}${cause === undefined ? "" : `: ${describe(cause)}`}`),
};

/** Keeps silent, for tests that expect errors. */
export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
