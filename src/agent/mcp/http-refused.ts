import { isJsonObject } from "../../lib/json.ts";

/** The server answered with this status of HTTP. */
export class HttpRefused extends Error {
  override readonly name = "HttpRefused";
  readonly status: number;

  constructor(status: number, cause: unknown) {
    super(
      status === 401 || status === 403
        ? `it answered ${status}: it does not accept the headers of its configuration`
        : `it answered with the HTTP status ${status}`,
      { cause },
    );
    this.status = status;
  }
}

/** The answer of a server; an HttpRefused in place of errors with a status. */
export async function refusedByHttp<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const status = statusOf(error);
    throw status === null ? error : new HttpRefused(status, error);
  }
}

function statusOf(error: unknown): number | null {
  for (let each: unknown = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth += 1) {
    if (each.name === "UnauthorizedError") return 401;
    const code: unknown = "code" in each ? each.code : null;
    const data: unknown = "data" in each ? each.data : null;
    // An error with a number and data is the server's own answer (JSON-RPC), whatever its number looks like.
    const status: unknown = typeof code === "number" && "data" in each ? null : isJsonObject(data) ? data["status"] : code;
    if (typeof status === "number" && status >= 400 && status < 600) return status;
  }
  return null;
}
