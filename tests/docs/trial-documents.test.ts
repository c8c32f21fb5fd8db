import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, validate } from "graphql";
import { expect, it } from "vitest";
import { schema } from "../../src/schema/index.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** A text that is a GraphQL document, with nothing put into it. */
const DOCUMENT = /(["`])((?:query|mutation|subscription)\b[^"`$]*(?:\$\w[^"`$]*)*|\{ [a-z][^"`$]*\})\1/g;

/** The documents that trials and measurements send, by the file in which they stand. */
async function documents(): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const found: { file: string; text: string }[] = [];
  for (const folder of ["trials", "bench"])
    for (const file of await readdir(join(ROOT, folder), { recursive: true }))
      if (file.endsWith(".ts"))
        for (const [, , text = ""] of (await readFile(join(ROOT, folder, file), "utf8")).matchAll(DOCUMENT))
          if (text.includes("{")) found.push({ file: `${folder}/${file}`, text });
  return found;
}

it("what trials and measurements ask is in the contract", async () => {
  const all = await documents();
  expect(all.length).toBeGreaterThan(20);
  for (const { file, text } of all) expect(validate(schema, parse(text)), `${file}: ${text}`).toEqual([]);
});
