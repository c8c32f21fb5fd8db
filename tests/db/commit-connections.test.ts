import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ArchiveAgentDocument, ForkAgentDocument, InterruptAgentDocument } from "../generated/documents.ts";
import { connect } from "../support/client.ts";
import { ask, inbox, office } from "../support/office.ts";
import { aroundStatements } from "../support/statements.ts";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** The statements that write the log: all of them append events, or begin a log. */
const COMMITS = /^(append_events|commit_\w+|begin_log)$/;

it("only the log has the connections of commits: one thing that waits for another statement would hold commits up (invariant 13)", async () => {
  const paths = (await readdir(SRC, { recursive: true })).filter((path) => path.endsWith(".ts") && !path.includes("generated"));
  const texts = await Promise.all(paths.map(async (path) => [path, await readFile(join(SRC, path), "utf8")] as const));
  const using = (pattern: RegExp): readonly string[] =>
    texts.flatMap(([path, text]) => (pattern.test(text) ? [path] : [])).toSorted();
  expect(using(/\bdatabase\.commits\b/)).toEqual(["app.ts"]);
  expect(using(/\bnew EventLog\(/)).toEqual(["app.ts"]);
  expect(using(/\bcommits: Sql\b/)).toEqual(["db/connections/pool.ts", "db/database.ts", "events/log.ts"]);
});

it("nothing but commits goes by the connections of commits, whatever agents and people do", async () => {
  const names = new Map<string, Set<string>>();
  const { app, as } = await office(
    { permission: { mode: "approval", allow: ["fs_read", "bash_run(command:sleep *)"] } },
    {
      overrides: {
        sql: (sql, purpose) =>
          aroundStatements(sql, (statement, run) => {
            names.set(purpose, (names.get(purpose) ?? new Set()).add(statement.name));
            return run();
          }),
      },
    },
  );
  const [anna, paul] = [as("anna"), as("paul")];
  const { agent, approvalId, inputHash } = await ask(anna);
  await paul.decide({ approvalId, decision: "ALLOW", inputHash });
  await anna.until(agent, "DONE");
  await anna.turn(agent, "hello");
  await anna.get(ForkAgentDocument, { input: { agentId: agent } });
  await ask(anna, "write b.txt", agent);
  await anna.get(InterruptAgentDocument, { input: { agentId: agent } });
  await inbox(paul);
  await connect(app.url, "").post({ query: "{ viewer { tenant } }" });
  await anna.get(ArchiveAgentDocument, { input: { agentId: agent } });
  expect([...(names.get("commits") ?? [])].filter((name) => !COMMITS.test(name))).toEqual([]);
});
