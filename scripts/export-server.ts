import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CommandFailed } from "../src/operator-error.ts";

/** The time between two looks at the export, in ms, and the tries while the server does not answer. */
const LOOK_MS = 1_000;
const TRIES = 30;

/** The statuses of a server, or of a proxy before it, that answers later. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The options of the command by the fields of the input. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ["withTexts", "--texts"],
  ["tools", "--tools"],
  ["since", "--since"],
  ["asOf", "--as-of"],
]);

/** The server does not answer now: it may be starting. */
class NotAnswered extends Error {
  override readonly name = "NotAnswered";
}

export const EXPORT_FIELDS = "id state rows bytes asOf problem viewerUrl";

type Export = {
  readonly id: string;
  readonly state: "RUNNING" | "DONE" | "FAILED" | "CANCELLED";
  readonly rows: number;
  readonly bytes: number;
  readonly asOf: string;
  readonly problem: string | null;
  readonly viewerUrl: string | null;
};

type UserError = { readonly message: string; readonly field: readonly string[] | null };

export type Created = { readonly export: Export | null; readonly userErrors: readonly UserError[] };

type Failure = { readonly message: string; readonly extensions?: { readonly code?: string } };

/** A server whose exports a command makes and downloads, with the token of TRIPLANE_TOKEN. */
export class ExportServer {
  readonly #url: string;
  readonly #token: string | null;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string) {
    this.#url = url;
    this.#token = process.env["TRIPLANE_TOKEN"]?.trim() || null;
    if (this.#token !== null && !/^[\x21-\x7e]+$/.test(this.#token))
      throw new CommandFailed("TRIPLANE_TOKEN has a space or a letter that no token has: copy the token again");
    this.#headers = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
  }

  /** The answer to an operation, which is sent once. */
  async ask<Data>(query: string, variables: object): Promise<Data> {
    return this.#ask<Data>(query, variables).catch((error: unknown) => {
      throw error instanceof NotAnswered ? new CommandFailed(error.message, { cause: error }) : error;
    });
  }

  async #ask<Data>(query: string, variables: object): Promise<Data> {
    const response = await this.#send("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#headers },
      body: JSON.stringify({ query, variables }),
    });
    if (response.status === 401)
      throw new CommandFailed(
        this.#token === null
          ? `${this.#url} wants a token: set TRIPLANE_TOKEN to yours`
          : `${this.#url} does not accept the token of TRIPLANE_TOKEN: set it to a valid one`,
      );
    const answer = (await response.json().catch((error: unknown) => {
      throw new CommandFailed(`${this.#url} answered ${response.status} and no JSON: is it the address of a Triplane?`, {
        cause: error,
      });
    })) as { readonly data?: Data | null; readonly errors?: readonly Failure[] };
    if (answer.errors !== undefined || !answer.data)
      throw new CommandFailed(answer.errors?.map(told).join("\n") ?? `${this.#url} answered ${response.status}`);
    return answer.data;
  }

  /** The answer of the server. Throws NotAnswered if it is away. */
  async #send(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(new URL(path, this.#url), init).catch((error: unknown) => {
      throw new NotAnswered(`${this.#url} does not answer: is the server there?`, { cause: error });
    });
    if (!LATER.has(response.status)) return response;
    throw new NotAnswered(`${this.#url} answered ${response.status}: ${(await response.text()).trim()}`);
  }

  /** The export as it is, asked again while the server is away. */
  async #now(id: string): Promise<Export> {
    const query = `query ($id: ID!) { export(id: $id) { ${EXPORT_FIELDS} } }`;
    const found = await again(() => this.#ask<{ readonly export: Export | null }>(query, { id }));
    if (found.export === null) throw new CommandFailed("the export is gone");
    return found.export;
  }

  async ended(made: Export): Promise<Export> {
    for (let present = made; ; present = await this.#now(made.id)) {
      if (present.state === "DONE") return present;
      if (present.state !== "RUNNING") throw new CommandFailed(`the export has ${present.state}: ${present.problem ?? ""}`);
      await delay(LOOK_MS);
    }
  }

  /** Writes the file, from where a broken download stopped. */
  async download(of: Export, to: string): Promise<void> {
    await again(async () => {
      const { size: begun } = await stat(to);
      const { viewerUrl } = begun === 0 ? of : await this.#now(of.id);
      if (viewerUrl === null) throw new CommandFailed("you may not download this export any more");
      await this.#read(viewerUrl, to, begun);
      if ((await stat(to)).size !== of.bytes) throw new NotAnswered("the download broke off");
    });
  }

  async #read(path: string, to: string, begun: number): Promise<void> {
    const range = begun === 0 ? {} : { range: `bytes=${begun}-` };
    const response = await this.#send(path, { headers: { ...this.#headers, ...range } });
    if (!response.ok) throw new CommandFailed((await response.text()).trim());
    const file = createWriteStream(to, { flags: response.status === 206 ? "a" : "w" });
    try {
      for await (const chunk of response.body ?? []) if (!file.write(chunk)) await once(file, "drain");
    } catch (error) {
      throw new NotAnswered("the download broke off", { cause: error });
    } finally {
      file.end();
      await finished(file);
    }
  }
}

/** A refusal of the server with the option of the command that it is about. */
export function refusalOf({ field, message }: UserError): string {
  const option = OPTIONS.get(field?.at(-1) ?? "");
  return option === undefined ? message : `${option}: ${message}`;
}

function told({ message, extensions }: Failure): string {
  return extensions?.code?.startsWith("CURSOR_") === true ? `--since, or --as-of: ${message}` : message;
}

async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      if (tries === TRIES) throw new CommandFailed(error.message, { cause: error });
      await delay(LOOK_MS);
    }
}
