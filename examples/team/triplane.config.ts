import { defineConfig, defineTool, Type } from "triplane";

/**
 * A team's server, to start from: who may connect, what runs without asking, who is told of what waits, and a tool of one's own.
 * It starts as it is, with a scripted model: `TRIPLANE_CONFIG=examples/team/triplane.config.ts npm start`. The tokens are the
 * ids of the actors, for trying only: make your own, and keep them out of this file (`printf %s TOKEN | sha256sum`).
 */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        replies: [
          {
            when: { user: "\\bcount\\b.*?(?<path>[\\w/-]+\\.\\w+)" },
            call: [{ tool: "word_count", input: { path: "{{path}}" } }],
          },
          {
            when: { user: "\\bwrite\\b.*?(?<path>[\\w/-]+\\.\\w+)" },
            say: ["I will write {{path}}."],
            call: [{ tool: "fs_write", input: { path: "{{path}}", content: "Written by the agent.\n" } }],
          },
          { when: { result: "word_count" }, say: ["{{result}}"] },
          { when: { result: "fs_write" }, say: ["{{result}}"] },
          { when: {}, say: ["Ask me to count the words of notes.md, or to write draft.md."] },
        ],
      },
    },
  },
  tools: [
    defineTool({
      name: "word_count",
      description: "Counts the words of a text file of the workspace.",
      readOnly: true,
      paths: { path: "read" },
      inputSchema: Type.Object({ path: Type.String({ description: "The file, from the workspace's root." }) }),
      async run({ path }, { workspace }) {
        const file = await workspace.openForReading(path);
        try {
          const words = (await file.readFile("utf8")).split(/\s+/).filter(Boolean).length;
          return { output: `${path} has ${words} words.`, details: { path, words } };
        } finally {
          await file.close();
        }
      },
    }),
  ],
  templates: {
    writer: {
      model: "scripted",
      systemPrompt: "You keep the team's notes.",
      // Reading runs at once, and writing is asked for; drafts are nobody's business but the agent's.
      permission: { allow: ["fs_write(path:drafts)"] },
      approvalExpiresMs: 24 * 60 * 60 * 1_000,
    },
  },
  hooks: {
    // A large file is asked for wherever it goes, and those who decide see that it is large.
    preToolUse: [
      ({ name, input }) => {
        const characters = JSON.stringify(input).length;
        return name === "fs_write" && characters > 10_000
          ? { decision: "ask", reason: "the file is large", meta: { risk: "HIGH", characters } }
          : undefined;
      },
    ],
  },
  workspaceRoots: ["workspace"],
  defaultWorkspace: "workspace",
  actors: [
    {
      id: "anna",
      name: "Anna",
      tenant: "acme",
      roles: ["user"],
      tokenHash: "55579b557896d0ce1764c47fed644f9b35f58bad620674af23f356d80ed0c503",
    },
    {
      id: "petra",
      name: "Petra",
      tenant: "acme",
      roles: ["approver"],
      tokenHash: "8a48abbd5535a6de051dd167111e33abe996ddc7091aeac8808ae2c335d505ce",
    },
    {
      id: "mona",
      name: "Mona",
      tenant: "acme",
      roles: ["viewer"],
      tokenHash: "132106a20b11b49bb6c2d6a39e302b5ea3d4acc34cfca1ad41e102d2ab898c0f",
    },
  ],
  // Where the approvers are told of what waits: INBOX_URL=https://hooks.example.org/triplane INBOX_SECRET=whsec_…
  webhooks: process.env["INBOX_URL"]
    ? { inbox: { url: process.env["INBOX_URL"], secret: process.env["INBOX_SECRET"] ?? "", allowPrivateTarget: true } }
    : {},
});
