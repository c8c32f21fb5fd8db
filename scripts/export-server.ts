import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CommandFailed } from "../src/operator-error.ts";

/** The time between two looks at the export, in ms, and the tries of a download that breaks off. */
const LOOK_MS = 1_000;
const TRIES = 10;

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

export type Created = { readonly export: Export | null; readonly userErrors: readonly { readonly message: string }[] };

/** A server whose exports a command makes and downloads, with the token of TRIPLANE_TOKEN. */
export class ExportServer {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string) {
    this.#url = url;
    const token = process.env["TRIPLANE_TOKEN"];
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async ask<Data>(query: string, variables: object): Promise<Data> {
    const response = await fetch(new URL("/graphql", this.#url), {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#headers },
      body: JSON.stringify({ query, variables }),
    }).catch((error: unknown) => {
      throw new CommandFailed(`${this.#url} does not answer: is the server there?`, { cause: error });
    });
    const answer = (await response.json()) as {
      readonly data?: Data | null;
      readonly errors?: readonly { readonly message: string }[];
    };
    if (answer.errors !== undefined || !answer.data)
      throw new CommandFailed(
        answer.errors?.map(({ message }) => message).join("\n") ?? `${this.#url} answered ${response.status}`,
      );
    return answer.data;
  }

  async #now(id: string): Promise<Export> {
    const found = await this.ask<{ readonly export: Export | null }>(
      `query ($id: ID!) { export(id: $id) { ${EXPORT_FIELDS} } }`,
      {
        id,
      },
    );
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

  /** Writes the file beside its name, from where a broken download stopped, and names it when it is whole. */
  async download(of: Export, out: string): Promise<void> {
    const partial = `${out}.partial`;
    for (let tries = 1; ; tries += 1) {
      const isFirst = tries === 1;
      const begun = isFirst ? 0 : (await stat(partial)).size;
      const { viewerUrl } = isFirst ? of : await this.#now(of.id);
      if (viewerUrl === null) throw new CommandFailed("you may not download this export any more");
      try {
        await this.#read(viewerUrl, partial, begun);
        if ((await stat(partial)).size === of.bytes) return await rename(partial, out);
      } catch (error) {
        if (error instanceof CommandFailed || tries === TRIES) throw error;
      }
      await delay(LOOK_MS);
    }
  }

  async #read(path: string, partial: string, begun: number): Promise<void> {
    const range = begun === 0 ? {} : { range: `bytes=${begun}-` };
    const response = await fetch(new URL(path, this.#url), { headers: { ...this.#headers, ...range } });
    if (!response.ok) throw new CommandFailed((await response.text()).trim());
    const file = createWriteStream(partial, { flags: response.status === 206 ? "a" : "w" });
    for await (const chunk of response.body ?? []) if (!file.write(chunk)) await once(file, "drain");
    file.end();
    await finished(file);
  }
}
