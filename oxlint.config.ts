import { defineConfig, type OxlintOverride } from "oxlint";

/**
 * The arrow (ARCHITECTURE.md): an import points to the right only. What is wanted from the left is passed in by the
 * one who calls, or its type moves to the room that uses it. Each room with what it is for: said if an import breaks the arrow.
 */
const ROOMS = {
  main: "src/main.ts only starts and stops",
  app: "src/app.ts joins the rooms",
  config: "src/config reads the environment and the configuration",
  server: "src/server knows transports",
  schema: "src/schema says what may be asked",
  resolvers: "src/resolvers says how each answer is got",
  deliveries: "src/deliveries tells others of the log",
  sweeps: "src/sweeps looks for things in a rhythm",
  commands: "src/agent/commands is what people may do to agents",
  loop: "src/agent/loop advances agents",
  waits: "src/agent/waits says what holds an agent back, and when its time has come",
  conversation: "src/agent/conversation lets a model answer",
  approvals: "src/agent/approvals lets people decide",
  calls: "src/agent/calls judges and runs one tool call",
  policy: "src/agent/policy says what a call may do",
  mcp: "src/agent/mcp reaches the tools of MCP servers",
  tools: "src/agent/tools is what agents can use",
  bash: "src/agent/bash reads command lines, and knows no rule",
  workspace: "src/agent/workspace is the boundary of files and programs",
  budgets: "src/agent/budgets says which limits of spending hold, and what fits into them",
  models: "src/agent/models knows providers",
  actors: "src/agent/actors says who acts, and what they may see",
  events: "src/events is the log",
  db: "src/db opens the database",
  telemetry: "src/telemetry says what happens to operators",
  lib: "src/lib holds things without a domain word",
} as const;

type Room = keyof typeof ROOMS;

const ARROW = Object.keys(ROOMS) as Room[];

/** The rooms of the wing `src/agent`. */
const AGENT_ROOMS: ReadonlySet<Room> = new Set(ARROW.slice(ARROW.indexOf("commands"), ARROW.indexOf("events")));

/** The files beside the rooms, by the room that they belong to. */
const FILES = {
  main: "main|exit|operator-error",
  app: "app|boxes|mcp-servers|tenant-services|config|triplane|metrics|forgotten",
} as const;

/** Packages that only one place may import. */
const PACKAGES: readonly { readonly packages: string; readonly room: Room; readonly instead: string }[] = [
  { packages: "@pothos/", room: "schema", instead: "write the type or field in src/schema and call a resolver from there" },
  {
    packages: "graphql-yoga$|graphql-ws|ws$|@graphql-yoga/",
    room: "server",
    instead: "transports stay in src/server: pass what you need in the context",
  },
  { packages: "@anthropic-ai/|openai", room: "models", instead: "go through the Model port of src/agent/models" },
  { packages: "@modelcontextprotocol/", room: "mcp", instead: "go through the tools of src/agent/mcp" },
  { packages: "@prisma/|@electric-sql/|pglite-prisma-adapter", room: "db", instead: "use the Sql or PrismaReads of src/db" },
];

/** The lint of one room: what it must not import, each with what to do instead. */
function arrowOverride(room: Room): OxlintOverride {
  const position = ARROW.indexOf(room);
  const patterns = [
    ...ARROW.slice(0, position).map((left) => ({
      regex: importsOf(left),
      message: `The arrow points right: ${room} must not import ${left} (${ROOMS[left]}; ${ROOMS[room]}). Take what you need as a parameter, or move its type into ${folderOf(room)} or further right.`,
    })),
    ...(position > ARROW.indexOf("actors")
      ? [{ regex: "^(\\.\\./)+agent/", message: `The arrow points right: ${room} must not import agent (${ROOMS[room]}).` }]
      : []),
    ...PACKAGES.filter((entry) => entry.room !== room).map((entry) => ({
      regex: `^(${entry.packages})`,
      message: `Only ${folderOf(entry.room)} imports this package: ${entry.instead}.`,
    })),
  ];
  return { files: [`${folderOf(room)}/**/*.ts`], rules: { "no-restricted-imports": ["error", { patterns }] } };
}

function folderOf(room: Room): string {
  return AGENT_ROOMS.has(room) ? `src/agent/${room}` : `src/${room}`;
}

/** The relative paths by which files of other rooms import this one. */
function importsOf(room: Room): string {
  return room === "main" || room === "app" ? `^(\\.\\./)+(${FILES[room]})\\.ts$` : `^(\\.\\./)+${room}/`;
}

/** Values of type `any` that nobody wrote: a spread, a parsed JSON, what a library says nothing of. */
const NO_HIDDEN_ANY = {
  "typescript/no-unsafe-assignment": "error",
  "typescript/no-unsafe-return": "error",
  "typescript/no-unsafe-argument": "error",
  "typescript/no-unsafe-member-access": "error",
  "typescript/no-unsafe-call": "error",
} as const;

/**
 * The arrow of the console: shell → screens → calls → session → design. Its screens know nothing of each other, and all that it
 * knows of the server is the public API, by the public client package.
 */
const CONSOLE_ROOMS = ["shell", "inbox|agents|audit|policy|operations", "calls", "session", "design"] as const;

function consoleOverrides(): OxlintOverride[] {
  return CONSOLE_ROOMS.flatMap((rooms, position) =>
    rooms.split("|").map((room) => {
      const others = rooms.split("|").filter((other) => other !== room);
      const left = [...CONSOLE_ROOMS.slice(0, position).flatMap((each) => each.split("|")), ...others];
      const patterns = [
        { regex: "^(\\.\\./)+(src|clients|tests)/", message: "The console knows the public API: import @triplane/client." },
        ...(left.length === 0
          ? []
          : [
              {
                regex: `^\\.\\./(${left.join("|")})/`,
                message: `The arrow points right: console/src/${room} must not import these.`,
              },
            ]),
      ];
      return { files: [`console/src/${room}/**`], rules: { "no-restricted-imports": ["error", { patterns }] } };
    }),
  );
}

function allOff(rules: object): Record<string, "off"> {
  return Object.fromEntries(Object.keys(rules).map((rule) => [rule, "off"]));
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
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-unassigned-import": "off",
    // TypeScript checks this itself, with the knowledge that a switch is exhaustive.
    "typescript/consistent-return": "off",
    "import/no-named-as-default": "off",
    "import/no-named-as-default-member": "off",
    "unicorn/require-post-message-target-origin": "off",
    "promise/always-return": "off",
    // By a reference alone, a program outside of the checkout finds what is declared of a package's module.
    "typescript/triple-slash-reference": ["error", { path: "always", types: "prefer-import" }],
    // A budget of the configuration says with `then` what becomes of a step: a text, which no await calls.
    "unicorn/no-thenable": "off",
    "no-underscore-dangle": "off",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/unbound-method": "off",
  },
  overrides: [
    ...ARROW.slice(2).map(arrowOverride),
    ...consoleOverrides(),
    { files: ["src/**/*.ts", "clients/src/**/*.ts", "console/src/**"], rules: NO_HIDDEN_ANY },
    // Yoga says `any` of what it hands to plugins and to other transports.
    { files: ["src/server/yoga.ts", "src/server/websocket.ts"], rules: allOff(NO_HIDDEN_ANY) },
  ],
});
