import { generate } from "@graphql-codegen/cli";
import { printSchema } from "graphql";
import { schema } from "./src/schema/index.ts";

/** A file that follows from the source and is committed all the same: readers and reviewers want to see it. */
export type GeneratedFile = { readonly path: string; readonly content: string };

/** The printed schema, and the typed documents of the tests. */
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
          config: { useTypeImports: true, enumsAsTypes: true, scalars: { Cursor: "string", DateTime: "string", JSON: "unknown" } },
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
  ];
}
