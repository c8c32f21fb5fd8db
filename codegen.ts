import { generate } from "@graphql-codegen/cli";
import {
  isInterfaceType,
  isObjectType,
  getNamedType,
  parse,
  print,
  printSchema,
  stripIgnoredCharacters,
  isUnionType,
} from "graphql";
import { readFile } from "node:fs/promises";
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
    {
      path: "console/src/generated/documents.ts",
      content: await typedDocuments(printed, "console/operations/*.graphql"),
    },
    { path: "clients/src/generated/conversation.ts", content: await clientDocument(printed, "conversation") },
    { path: "clients/src/generated/tree.ts", content: await clientDocument(printed, "tree") },
    { path: "clients/src/generated/schema.ts", content: cacheFacts() },
    { path: "prisma/catalog.sql", content: await embeddedCatalog() },
  ];
}

/** The selections that subscriptions of the client package share. */
const CLIENT_FRAGMENTS = "clients/documents/fragments.graphql";

/** A subscription of the client package: its text, without what a server ignores, and its types. */
async function clientDocument(schema: string, name: string): Promise<string> {
  const file = `clients/documents/${name}.graphql`;
  const files = [file, CLIENT_FRAGMENTS];
  const typed = await typedDocuments(schema, files, { onlyOperationTypes: true, documentMode: "string" });
  const [types = ""] = typed.split("export class TypedDocumentString");
  const text = stripIgnoredCharacters(print(parse((await Promise.all(files.map((each) => readFile(each, "utf8")))).join("\n"))));
  return `${types.replace(/^import .*\n/gm, "")}export const ${name.toUpperCase()}_DOCUMENT = ${JSON.stringify(text)};\n`;
}

/** The facts of the contract that caches of clients need. */
function cacheFacts(): string {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith("__"));
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const objects = types.filter(isObjectType);
  const keyless = objects.filter((type) => !roots.has(type) && !("id" in type.getFields())).map(({ name }) => name);
  const possible = types
    .filter((type) => isInterfaceType(type) || isUnionType(type))
    .map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]);
  const connections = objects.flatMap((type) => {
    const fields = Object.values(type.getFields()).filter((field) => getNamedType(field.type).name.endsWith("Connection"));
    return fields.length === 0 ? [] : [[type.name, fields.map(({ name }) => name)]];
  });
  return [
    "/** The types of each interface and union. */",
    `export const POSSIBLE_TYPES: Record<string, string[]> = ${JSON.stringify(Object.fromEntries(possible))};`,
    "/** The object types without an id. */",
    `export const KEYLESS: readonly string[] = ${JSON.stringify(keyless)};`,
    "/** The fields that are connections, by type. */",
    `export const CONNECTIONS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(Object.fromEntries(connections))};`,
    "",
  ].join("\n");
}

async function typedDocuments(
  schema: string,
  documents: string | string[],
  config: Readonly<Record<string, unknown>> = {},
): Promise<string> {
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
            ...config,
            scalars: { Cursor: "string", DateTime: "string", JSON: "unknown" },
          },
        },
      },
    },
    false,
  )) as { filename: string; content: string }[];
  const written = outputs.find((output) => output.filename.endsWith("graphql.ts"));
  if (written === undefined) throw new Error(`codegen wrote nothing for ${String(documents)}`);
  return written.content;
}

async function embeddedCatalog(): Promise<string> {
  const client = await PGlite.create();
  for (const { sql } of await readMigrations()) await client.exec(sql);
  const catalog = await readCatalog({ query: async <Row>(sql: string) => (await client.query<Row>(sql)).rows });
  await client.close();
  return catalog;
}
