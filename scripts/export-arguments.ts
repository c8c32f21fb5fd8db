import { parseArgs } from "node:util";
import { EXPORT_FORMATS, EXPORT_SUBJECTS, type ExportFormat, type ExportSubject } from "../src/db/commit/export-rows.ts";
import { parseCursor } from "../src/events/cursor.ts";
import { readTime } from "../src/lib/time.ts";
import { CommandFailed } from "../src/operator-error.ts";

export const HELP = `npm run export -- --out FILE [--force] [--what ${EXPORT_SUBJECTS.join("|")}]
  [--format ${EXPORT_FORMATS.join("|")}] [--texts] [--tools NAME,NAME] [--from TIME] [--to TIME]
  [--since CURSOR] [--as-of CURSOR] [--url http://127.0.0.1:4000]
The token is that of TRIPLANE_TOKEN. The last line of the output is the position for the next --since.`;

/** The arguments of `npm run export`. `input` is that of `createExport`. */
export type ExportArguments = {
  readonly out: string;
  readonly mayReplace: boolean;
  readonly url: string;
  readonly input: {
    readonly what: ExportSubject;
    readonly format: ExportFormat;
    readonly withTexts: boolean;
    readonly filter: {
      readonly created: { readonly from: string | undefined; readonly to: string | undefined };
      readonly tools: readonly string[] | undefined;
    };
    readonly since: string | undefined;
    readonly asOf: string | undefined;
  };
};

/** Null if the help is asked for. Throws CommandFailed for mistakes. */
export function exportArguments(args: readonly string[]): ExportArguments | null {
  const values = parsed(args);
  const { out } = values;
  if (values.help) return null;
  if (out === undefined || out === "") throw new CommandFailed(`--out is missing: name the file to write\n${HELP}`);
  if (!/^https?:$/.test(URL.parse(values.url)?.protocol ?? ""))
    throw new CommandFailed(`--url ${values.url} is no address of a server: give one such as http://127.0.0.1:4000`);
  const byName = out.toLowerCase().endsWith(".csv") ? "CSV" : "NDJSON";
  return {
    out,
    mayReplace: values.force,
    url: values.url,
    input: {
      what: oneOf("--what", EXPORT_SUBJECTS, values.what),
      format: oneOf("--format", EXPORT_FORMATS, values.format ?? byName),
      withTexts: values.texts,
      filter: { created: { from: time("--from", values.from), to: time("--to", values.to) }, tools: names(values.tools) },
      since: cursor("--since", values.since),
      asOf: cursor("--as-of", values["as-of"]),
    },
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        out: { type: "string" },
        force: { type: "boolean", default: false },
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
    }).values;
  } catch (error) {
    throw new CommandFailed(`${error instanceof Error ? error.message : String(error)}\n${HELP}`, { cause: error });
  }
}

function oneOf<Name extends string>(option: string, known: readonly Name[], given: string): Name {
  const found = known.find((name) => name === given.toUpperCase());
  if (found === undefined) throw new CommandFailed(`${option} ${given} is not known: give one of ${known.join(", ")}`);
  return found;
}

function time(option: string, given: string | undefined): string | undefined {
  if (given === undefined || readTime(given) !== null) return given;
  throw new CommandFailed(`${option} ${given} is no time: give date, time and zone, such as 2026-03-02T00:00:00Z`);
}

function cursor(option: string, given: string | undefined): string | undefined {
  if (given === undefined || parseCursor(given).ok) return given;
  throw new CommandFailed(`${option} ${given} is no position: give the last line that an earlier export printed`);
}

function names(given: string | undefined): readonly string[] | undefined {
  const tools = given?.split(",").map((name) => name.trim());
  if (tools?.includes("") === true) throw new CommandFailed("--tools has an empty name: give names such as bash_run,fs_write");
  return tools;
}
