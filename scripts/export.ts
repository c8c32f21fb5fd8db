import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import { CommandFailed } from "../src/operator-error.ts";
import { command } from "./command.ts";

const HELP = `npm run export -- --out FILE [--what TOOL_CALLS|APPROVALS|EVENTS] [--format CSV|NDJSON] [--texts]
  [--tools NAME,NAME] [--from TIME] [--to TIME] [--since CURSOR] [--as-of CURSOR] [--url http://127.0.0.1:4000]
The token is that of TRIPLANE_TOKEN. The last line of the output is the position for the next --since.`;

/** The time between two looks at the export, in ms, and the tries of a download that breaks off. */
const LOOK_MS = 1_000;
const TRIES = 10;

const FIELDS = "id state rows bytes asOf problem viewerUrl";

type Export = {
  readonly id: string;
  readonly state: "RUNNING" | "DONE" | "FAILED" | "CANCELLED";
  readonly rows: number;
  readonly bytes: number;
  readonly asOf: string;
  readonly problem: string | null;
  readonly viewerUrl: string | null;
};

type Created = { readonly export: Export | null; readonly userErrors: readonly { readonly message: string }[] };

/** `npm run export`: makes an export over the API, and writes its file. */
await command(async () => {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      what: { type: "string", default: "TOOL_CALLS" },
      format: { type: "string" },
      texts: { type: "boolean", default: false },
      tools: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      since: { type: "string" },
      "as-of": { type: "string" },
      url: { type: "string", default: "http://127.0.0.1:4000" },
      help: { type: "boolean", default: false },
    },
  });
  const { out } = values;
  if (values.help || out === undefined) throw new CommandFailed(HELP);
  const server = new Server(values.url);
  const format = values.format ?? (out.endsWith(".csv") ? "CSV" : "NDJSON");
  const created = { from: values.from, to: values.to };
  const input = {
    what: values.what,
    format,
    withTexts: values.texts,
    filter: { created, tools: values.tools?.split(",") },
    since: values.since,
    asOf: values["as-of"],
  };
  const { createExport } = await server.ask<{ readonly createExport: Created }>(
    `mutation ($input: CreateExportInput!) { createExport(input: $input) { export { ${FIELDS} } userErrors { message } } }`,
    { input },
  );
  if (createExport.export === null) throw new CommandFailed(createExport.userErrors.map(({ message }) => message).join("\n"));
  const done = await server.ended(createExport.export);
  await server.download(done, out);
  console.error(`${out}: ${done.rows} rows, ${done.bytes} bytes. The next export continues with --since`);
  console.log(done.asOf);
});

class Server {
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
    const found = await this.ask<{ readonly export: Export | null }>(`query ($id: ID!) { export(id: $id) { ${FIELDS} } }`, {
      id,
    });
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
