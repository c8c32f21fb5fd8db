import { describe, expect, it } from "vitest";
import { ruleMatches, type Extent } from "../../../../src/agent/policy/rule.ts";
import { parseRule } from "../../../../src/agent/policy/parse-rule.ts";
import { judge } from "../../../../src/agent/policy/judge.ts";
import { readPermission } from "../../../../src/agent/policy/permission-source.ts";
import {
  reachedPaths,
  ruleValues,
  storedValues,
  writtenFiles,
  type RuleValues,
} from "../../../../src/agent/policy/rule-values.ts";
import { asListedNow } from "../../../../src/agent/policy/commands/recorded-lines.ts";
import { withFolderContents } from "../../../../src/agent/policy/commands/folder-content.ts";
import { gitTime } from "../../../../src/agent/bash/git/answer-of-git.ts";
import { bashRun } from "../../../../src/agent/tools/bash/run.ts";
import { ToolDefinitionError } from "../../../../src/agent/tools/input-schema.ts";
import { defineTool } from "../../../../src/agent/tools/tool.ts";
import { Type } from "../../../../src/triplane.ts";
import { commandJudge, projectFolder, shell } from "../../../support/command-lines.ts";
import type { JsonObject } from "../../../../src/lib/json.ts";

const inputSchema = Type.Object({
  steps: Type.Array(Type.Object({ command: Type.String(), retries: Type.Optional(Type.Integer()) })),
  before: Type.Optional(Type.Array(Type.String())),
  folder: Type.Optional(Type.String()),
});
const run = () => ({ output: "", details: null });
const pipeline = defineTool({
  name: "pipeline",
  description: "Runs lines.",
  readOnly: false,
  commands: [{ place: "steps[].command", folderIn: "folder" }, "before"],
  paths: { folder: "read" },
  inputSchema,
  run,
});
const TOOLS = new Map([shell, pipeline].map((tool) => [tool.name, tool]));

describe("command lines in an input", () => {
  it.each<[string, Extent, boolean]>([
    ["pipeline(command:npm run *)", "covers", true],
    ["pipeline(steps[].command:npm run *)", "covers", true],
    ["pipeline(command:npm run build)", "covers", false],
    ["pipeline(before:make)", "covers", true],
    ["*(command:npm)", "names", true],
    ["pipeline(before:npm)", "names", false],
    ["pipeline(command:npm run *, before:make)", "covers", true],
    ["pipeline(command:npm run *, before:rm)", "covers", false],
  ])("are spoken of by %s (%s): %s", async (source, extent, expected) => {
    const rule = parseRule(source, "test", TOOLS);
    if (!rule.ok) throw new Error(JSON.stringify(rule));
    const input = { steps: [{ command: "npm run build" }, { command: "npm run lint", retries: 2 }], before: ["make"] };
    expect(ruleMatches(rule.value, "pipeline", ruleValues(pipeline, input, await projectFolder()), extent)).toBe(expected);
  });

  it("run in the folder that the tool names, and show what they write in the inbox and after a crash", async () => {
    const values = ruleValues(
      pipeline,
      { steps: [{ command: "cat a.ts > b.ts" }], before: ["cat package.json"], folder: "src" },
      await projectFolder(),
    );
    expect(reachedPaths(values)).toContainEqual({ parameter: "steps[].command", names: ["src/a.ts"] });
    expect(reachedPaths(values)).toContainEqual({ parameter: "before", names: ["package.json"] });
    expect(writtenFiles(values)).toEqual(["src/b.ts"]);
    expect(() => JSON.stringify(values)).not.toThrow();
  });

  it.each<[unknown, string]>([
    [["commnd"], "name commnd, which is no parameter of it"],
    [["steps[].cmd"], "name steps[].cmd: a command line is a string or a list of strings"],
    [["steps"], "name steps: a command line is a string or a list of strings"],
    [["steps[].retries"], "name steps[].retries: a command line is a string"],
    [[{ place: "before", folderIn: "cwd" }], "name cwd, which is no parameter of it"],
    [[{ place: "before", folderIn: "steps" }], "the folder in which it runs a string"],
    [[{ place: "before", environmentIn: "folder" }], "its environment an object"],
    [{ command: "x" }, "commands"],
  ])("that are declared wrongly are refused at the start: %j", (commands, message) => {
    const define = () => defineTool({ name: "t", description: "x", readOnly: false, inputSchema, run, commands } as never);
    expect(define).toThrow(message);
    expect(define).toThrow(ToolDefinitionError);
  });
});

describe("variables that are set for a line", () => {
  it("are assignments before each of its commands", async () => {
    const workspace = await projectFolder();
    const tools = new Map([[bashRun.name, bashRun]]);
    const verdict = (input: JsonObject, permission: object) => {
      const read = readPermission(permission, "test", { tools, modes: new Map() });
      const policy = { permission: read.permission, bounds: [], stored: [], box: null };
      return judge({ agentId: "a", name: "bash_run", readOnly: false, values: ruleValues(bashRun, input, workspace) }, policy)
        .verdict;
    };
    const env = { PATH: "." };
    expect(verdict({ command: "git status" }, { readOnlyCommands: true })).toBe("allow");
    expect(verdict({ command: "git status", env }, { readOnlyCommands: true })).toBe("ask");
    expect(verdict({ command: "make && make", env }, { allow: ["bash_run(command:make)"] })).toBe("ask");
    expect(verdict({ command: "make && make", env }, { allow: ["bash_run(command:PATH=. make)"] })).toBe("allow");
    expect(verdict({ command: "make", env }, { mode: "auto", deny: ["bash_run(command:PATH=* *)"] })).toBe("deny");
  });
});

describe("a tool that writes a file itself, beside its line", () => {
  it("does not run as one that only reads", async () => {
    const workspace = await projectFolder();
    const record = defineTool({
      name: "record",
      description: "Runs a line, and keeps what it says.",
      readOnly: false,
      commands: ["command"],
      paths: { into: "write" },
      inputSchema: Type.Object({ command: Type.String(), into: Type.Optional(Type.String()) }),
      run,
    });
    const { permission } = readPermission({ readOnlyCommands: true }, "test", {
      tools: new Map([["record", record]]),
      modes: new Map(),
    });
    const verdict = (input: JsonObject) =>
      judge(
        { agentId: "a", name: "record", readOnly: false, values: ruleValues(record, input, workspace) },
        { permission, bounds: [], stored: [], box: null },
      ).verdict;
    expect(verdict({ command: "git status" })).toBe("allow");
    expect(verdict({ command: "git status", into: "src/a.ts" })).toBe("ask");
  });
});

describe("recorded command lines", () => {
  it("are judged without the parser and without files as they were, and by other permissions", async () => {
    const workspace = await projectFolder();
    const source = { readOnlyCommands: true, deny: ["shell(command:git push *)"], allow: ["shell(command:npm run *)"] };
    const judged = commandJudge(workspace, source);
    const lines = [
      "ls",
      "npm run x && git status",
      "git push",
      "sudo git push",
      "grep -rn x src",
      "rm x",
      "cat /etc/hosts",
      "for i in 1; do ls; done",
      "cat src/*.ts",
      "wc -l src/{a,b}.ts; echo $?",
      "a".repeat(9_000),
      "npm run x; ".repeat(700),
    ];
    const kept = async (line: string): Promise<RuleValues> => {
      const values = await withFolderContents(
        ruleValues(shell, { command: line } satisfies JsonObject, workspace),
        workspace,
        [],
        null,
        gitTime(),
      );
      return JSON.parse(JSON.stringify(storedValues(values))) as RuleValues;
    };
    const again = (values: RuleValues, permission: object) => {
      const read = readPermission(permission, "test", { tools: TOOLS, modes: new Map() });
      const policy = { permission: read.permission, bounds: [], stored: [], box: null };
      return judge({ agentId: "a", name: "shell", readOnly: false, values: asListedNow(values) }, policy).verdict;
    };
    for (const line of lines.slice(0, -1))
      expect(again(await kept(line), source), line.slice(0, 60)).toBe((await judged(line)).verdict);
    // More commands than are kept are asked about.
    expect((await judged(lines.at(-1) ?? "")).verdict).toBe("allow");
    expect(again(await kept(lines.at(-1) ?? ""), source)).toBe("ask");
    expect(JSON.stringify(await kept(lines.at(-1) ?? "")).length).toBeLessThan(40_000);
    expect(again(await kept("rm x"), { mode: "auto" })).toBe("allow");
    expect(again(await kept("ls && rm x"), { mode: "auto", deny: ["shell(command:rm *)"] })).toBe("deny");
    // A deny rule that nobody looked for when the line was recorded may close something in its folder.
    const deny = ["shell(cwd:/src/secret)"];
    expect(again(await kept("grep -rn x src"), { readOnlyCommands: true, deny })).toBe("ask");
    expect(again(await kept("grep -rn x docs"), { readOnlyCommands: true, deny })).toBe("allow");
  });
});
