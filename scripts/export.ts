import { CommandFailed } from "../src/operator-error.ts";
import { command } from "./command.ts";
import { exportArguments, HELP } from "./export-arguments.ts";
import { EXPORT_FIELDS, ExportServer, refusalOf, type Created } from "./export-server.ts";
import { OutFile } from "./out-file.ts";

const CREATE = `mutation ($input: CreateExportInput!) {
  createExport(input: $input) { export { ${EXPORT_FIELDS} } userErrors { message field } }
}`;

/** `npm run export`: makes an export over the API, and writes its file. */
await command(async () => {
  const asked = exportArguments(process.argv.slice(2));
  if (asked === null) return console.log(HELP);
  const { out, mayReplace, url, input } = asked;
  const server = new ExportServer(url);
  const file = await OutFile.begin(out, mayReplace);
  const done = await written(server, input, file.partial).catch(async (error: unknown) => {
    await file.drop();
    throw error;
  });
  await file.finish();
  console.error(`${out}: ${done.rows} rows, ${done.bytes} bytes. The next export continues with --since`);
  console.log(done.asOf);
});

async function written(server: ExportServer, input: object, to: string) {
  const { createExport } = await server.ask<{ readonly createExport: Created }>(CREATE, { input });
  if (createExport.export === null) throw new CommandFailed(createExport.userErrors.map(refusalOf).join("\n"));
  const done = await server.ended(createExport.export);
  await server.download(done, to);
  return done;
}
