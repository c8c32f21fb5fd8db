import { parseArgs } from "node:util";
import { CommandFailed } from "../src/operator-error.ts";
import { command } from "./command.ts";
import { EXPORT_FIELDS, ExportServer, type Created } from "./export-server.ts";

const HELP = `npm run export -- --out FILE [--what TOOL_CALLS|APPROVALS|DECISIONS|MESSAGES|STEPS|TURNS|EVENTS]
  [--format CSV|NDJSON] [--texts] [--tools NAME,NAME] [--from TIME] [--to TIME]
  [--since CURSOR] [--as-of CURSOR] [--url http://127.0.0.1:4000]
The token is that of TRIPLANE_TOKEN. The last line of the output is the position for the next --since.`;

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
  const server = new ExportServer(values.url);
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
    `mutation ($input: CreateExportInput!) { createExport(input: $input) { export { ${EXPORT_FIELDS} } userErrors { message } } }`,
    { input },
  );
  if (createExport.export === null) throw new CommandFailed(createExport.userErrors.map(({ message }) => message).join("\n"));
  const done = await server.ended(createExport.export);
  await server.download(done, out);
  console.error(`${out}: ${done.rows} rows, ${done.bytes} bytes. The next export continues with --since`);
  console.log(done.asOf);
});
