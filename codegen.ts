import { generate } from "@graphql-codegen/cli";
import { printSchema } from "graphql";
import { PGlite } from "@electric-sql/pglite";
import { readCatalog } from "./scripts/catalog.ts";
import { readMigrations } from "./src/db/migrate.ts";
import { schema } from "./src/schema/index.ts";

/** A file that follows from the source and is committed all the same: readers and reviewers want to see it. */
export type GeneratedFile = { readonly path: string; readonly content: string };

/** The printed schema, the typed documents of tests and example apps, and what the migrations amount to. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const printed = `${printSchema(schema)}\n`;
  return [
    { path: "schema.graphql", content: printed },
    { path: "tests/generated/documents.ts", content: await typedDocuments(printed, "tests/documents/*.graphql") },
    {
      path: "examples/react-shared/src/generated/documents.ts",
      content: await typedDocuments(printed, "examples/react-shared/*.graphql"),
    },
    { path: "prisma/catalog.sql", content: await embeddedCatalog() },
  ];
}

async function typedDocuments(schema: string, documents: string): Promise<string> {
  const outputs = (await generate(
    {
      schema,
      documents,
      silent: true,
      generates: {
        "generated/": {
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
  const written = outputs.find((output) => output.filename.endsWith("graphql.ts"));
  if (written === undefined) throw new Error(`codegen wrote nothing for ${documents}`);
  return written.content;
}

async function embeddedCatalog(): Promise<string> {
  const client = await PGlite.create();
  for (const { sql } of await readMigrations()) await client.exec(sql);
  const catalog = await readCatalog({ query: async <Row>(sql: string) => (await client.query<Row>(sql)).rows });
  await client.close();
  return catalog;
}
