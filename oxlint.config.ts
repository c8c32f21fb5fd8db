import { defineConfig, type OxlintOverride } from "oxlint";

/**
 * The arrow (ARCHITECTURE.md): an import points to the right only. What is wanted from the left is passed in by the
 * one who calls, or its type moves to the folder that uses it.
 */
const ARROW = ["main", "app", "server", "schema", "resolvers", "agent", "events", "db", "lib"] as const;

/** What each folder is for: said where an import breaks the arrow. */
const PURPOSE: Readonly<Record<(typeof ARROW)[number], string>> = {
  main: "main.ts only starts and stops",
  app: "app.ts, settings and configuration join the parts",
  server: "src/server knows transports",
  schema: "src/schema says what may be asked",
  resolvers: "src/resolvers says how each answer is got",
  agent: "src/agent advances agents and knows nothing of GraphQL",
  events: "src/events is the log",
  db: "src/db opens the database",
  lib: "src/lib holds things without a domain word",
};

/** Files beside the folders that belong to `app`. */
const APP_FILES = "app|settings|config|config-schema|environment|forgotten";

/** Packages that only one place may import. */
const PACKAGES: readonly { readonly packages: string; readonly folder: string; readonly instead: string }[] = [
  { packages: "@pothos/", folder: "schema", instead: "write the type or field in src/schema and call a resolver from there" },
  {
    packages: "graphql-yoga$|graphql-ws|ws$|@graphql-yoga/",
    folder: "server",
    instead: "transports stay in src/server: pass what you need in the context",
  },
  { packages: "@anthropic-ai/|openai", folder: "agent", instead: "go through the Model port of src/agent/models" },
  { packages: "@prisma/|@electric-sql/|pglite-prisma-adapter", folder: "db", instead: "use the Sql or Reader of src/db" },
];

function arrowOverride(folder: (typeof ARROW)[number], position: number): OxlintOverride {
  const left = ARROW.slice(0, position);
  const patterns = [
    ...left.map((forbidden) => ({
      regex:
        forbidden === "app"
          ? `^(\\.\\./)+(${APP_FILES})\\.ts$`
          : forbidden === "main"
            ? "^(\\.\\./)+main\\.ts$"
            : `^(\\.\\./)+${forbidden}/`,
      message: `The arrow points right: ${folder} must not import ${forbidden} (${PURPOSE[forbidden]}; ${PURPOSE[folder]}). Take what you need as a parameter, or move its type into src/${folder} or further right.`,
    })),
    ...PACKAGES.filter((entry) => entry.folder !== folder).map((entry) => ({
      regex: `^(${entry.packages})`,
      message: `Only src/${entry.folder} imports this package: ${entry.instead}.`,
    })),
  ];
  return { files: [`src/${folder}/**/*.ts`], rules: { "no-restricted-imports": ["error", { patterns }] } };
}

export default defineConfig({
  plugins: ["typescript", "import", "unicorn", "oxc", "promise"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: ["**/generated/**", "examples/workspace/**", "node_modules/**"],
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": ["error", { checksVoidReturn: false }],
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/no-non-null-assertion": "error",
    "typescript/consistent-type-imports": "error",
    "import/no-cycle": ["error", { ignoreTypes: true }],
    "import/no-unassigned-import": "off",
    // TypeScript checks this itself, with the knowledge that a switch is exhaustive.
    "typescript/consistent-return": "off",
    "import/no-named-as-default": "off",
    "import/no-named-as-default-member": "off",
    "unicorn/require-post-message-target-origin": "off",
    "promise/always-return": "off",
    "no-underscore-dangle": "off",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/unbound-method": "off",
  },
  overrides: ARROW.slice(2).map((folder, index) => arrowOverride(folder, index + 2)),
});
