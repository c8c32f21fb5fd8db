import { writeFile } from "node:fs/promises";
import { CEILINGS, countsOf, FORMS, lowered, readCeilings, texts, type Form } from "./prose-forms.ts";

/** `npm run prose`: prints the counts of the folded forms. `--lower` lowers the ceilings to them; `--show FORM` prints each sentence. */
const [option, form] = process.argv.slice(2);

await main();

async function main(): Promise<void> {
  const all = Object.entries(await texts());
  if (option === "--show") {
    const count = FORMS[form as Form];
    const found = all.flatMap(([, files]) =>
      files.flatMap(([path, sentences]) => sentences.map((each) => [path, each] as const)),
    );
    for (const [path, sentence] of found) if (count(sentence) > 0) console.log(`${path}: ${sentence}`);
    return;
  }
  const counts = Object.fromEntries(all.map(([kind, files]) => [kind, countsOf(files.flatMap(([, sentences]) => sentences))]));
  if (option !== "--lower") return console.log(JSON.stringify(counts, null, 2));
  const ceilings = await readCeilings();
  const entries = Object.entries(counts).map(([kind, found]) => [kind, lowered(found, ceilings[kind] ?? {})]);
  await writeFile(CEILINGS, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
