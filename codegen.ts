import { generate } from "@graphql-codegen/cli";
import { printSchema } from "graphql";
import { PGlite } from "@electric-sql/pglite";
import { readCatalog } from "./scripts/catalog.ts";
import { readMigrations } from "./src/db/migrate.ts";
import { schema } from "./src/schema/index.ts";

/** A file that follows from the source and is committed all the same: readers and reviewers want to see it. */
export type GeneratedFile = { readonly path: string; readonly content: string };

/** The printed schema, the typed documents of the tests, and what the migrations amount to. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const printed = `${printSchema(schema)}\n`;
  const outputs = (await generate(
    {
      schema: printed,
      documents: "tests/documents/*.graphql",
      silent: true,
      generates: {
        "tests/generated/": {
          preset: "client",
          presetConfig: { fragmentMasking: false },
          config: {
            useTypeImports: true,
            enumsAsTypes: true,
            scalars: { Cursor: "string", DateTime: "string", JSON: "unknown" },
          },
        },
      },
    },
    false,
  )) as { filename: string; content: string }[];
  const documents = outputs.find((output) => output.filename.endsWith("graphql.ts"));
  if (documents === undefined) throw new Error("codegen wrote no documents");
  return [
    { path: "schema.graphql", content: printed },
    { path: "tests/generated/documents.ts", content: documents.content },
    { path: "prisma/catalog.sql", content: await embeddedCatalog() },
  ];
}

async function embeddedCatalog(): Promise<string> {
  const client = await PGlite.create();
  for (const { sql } of await readMigrations()) await client.exec(sql);
  const catalog = await readCatalog({ query: async <Row>(sql: string) => (await client.query<Row>(sql)).rows });
  await client.close();
  return catalog;
}
