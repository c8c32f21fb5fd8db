import { describe, expect, it } from "vitest";
import { actsOf, judge, judgeConnection, judgeOpening } from "../../../src/agent/policy/judge.ts";
import { agentPermissions, boundsOfDescendants } from "../../../src/agent/policy/agent-policy.ts";
import { type Explanation, type Permission } from "../../../src/agent/policy/permission.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { ruleValues, type RuleValues } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { defineTool, type Tool } from "../../../src/agent/tools/tool.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { shell } from "../../support/command-lines.ts";

const copy = defineTool<{ from: string[]; to: string; note?: string }>({
  name: "copy",
  description: "Copies files.",
  readOnly: false,
  paths: { from: "read" },
  inputSchema: {
    type: "object",
    required: ["from", "to"],
    properties: {
      from: { type: "array", items: { type: "string" } },
      to: { type: "string" },
      note: { type: "string", nullable: true },
    },
  },
  run: () => ({ output: "", details: null }),
});
const VOCABULARY = {
  tools: new Map<string, Tool>([...BUILTIN_TOOLS, shell, copy].map((tool) => [tool.name, tool])),
  modes: new Map(),
};

function permissionOf(source: PermissionSource): Permission {
  const { permission, problems } = readPermission(source, "test", VOCABULARY);
  expect(problems).toEqual([]);
  return permission;
}

function valuesOf(tool: Tool, input: Parameters<typeof ruleValues>[1]): RuleValues {
  return ruleValues(tool, input, new Workspace("/nowhere"));
}

function judged(tool: Tool, input: Parameters<typeof ruleValues>[1], source: PermissionSource): Explanation {
  const call = { agentId: "a", name: tool.name, readOnly: tool.readOnly, values: valuesOf(tool, input) };
  return judge(call, { permission: permissionOf(source), bounds: [], stored: [], box: null });
}

const kindsOf = (tool: Tool, input: Parameters<typeof ruleValues>[1]): readonly string[] =>
  actsOf({ agentId: "a", name: tool.name, readOnly: false, values: valuesOf(tool, input) }).map((act) =>
    "isCarried" in act && act.isCarried ? `${act.kind}, carried` : act.kind,
  );

describe("the acts of a call", () => {
  it("are its files and searches, or its use if it names none", () => {
    expect(kindsOf(copy, { from: ["a", "b"], to: "c", note: "n" })).toEqual(["file", "file"]);
    expect(kindsOf(VOCABULARY.tools.get("fs_glob") ?? shell, { pattern: "**/*.ts" })).toEqual(["search"]);
    expect(kindsOf(VOCABULARY.tools.get("todo_write") ?? shell, { todos: [] })).toEqual(["use"]);
  });

  it("of a command line are its commands, which carry the files beside it, and the parts that cannot be read", () => {
    expect(kindsOf(shell, { command: "ls; rm x", cwd: "docs" })).toEqual(["command", "command", "file, carried"]);
    expect(kindsOf(shell, { command: "sudo rm x" })).toEqual(["command", "command, carried"]);
    expect(kindsOf(shell, { command: "npm test &" })).toEqual(["unproven", "command"]);
    expect(kindsOf(shell, { command: "" })).toEqual(["use"]);
  });
});

describe("each act is judged by itself, and the strictest decides", () => {
  it("of files in one parameter, each may be allowed by a rule of its own", () => {
    const allow = ["copy(from:/src/**)", "copy(from:/docs/**)"];
    const copied = (...from: string[]): string => judged(copy, { from, to: "x" }, { mode: "approval", allow }).verdict;
    expect(copied("src/a", "docs/b")).toBe("allow");
    expect(copied("src/a", "tests/b")).toBe("ask");
  });

  it("a secret file beside others is asked about unless a rule names its parameter", () => {
    const verdict = (...allow: string[]): string =>
      judged(copy, { from: ["a", ".env"], to: "x" }, { mode: "auto", allow }).verdict;
    expect(verdict()).toBe("ask");
    expect(verdict("copy")).toBe("ask");
    expect(verdict("copy(to:x)")).toBe("ask");
    expect(verdict("copy(from:.env)")).toBe("allow");
  });

  it("a secret folder beside a command line is asked about although a rule allows the command", () => {
    const source = { mode: "approval", allow: ["shell(command:ls *)"] } as const;
    expect(judged(shell, { command: "ls", cwd: "docs" }, source).verdict).toBe("allow");
    expect(judged(shell, { command: "ls", cwd: ".ssh" }, source)).toMatchObject({
      verdict: "ask",
      decidedBy: "files with secrets",
    });
  });

  it("the mode is asked once about a call, however many acts it has", () => {
    let asked = 0;
    const modes = new Map([["own", () => ((asked += 1), "allow" as const)]]);
    const { permission } = readPermission({ mode: "own" }, "test", { ...VOCABULARY, modes });
    const call = { agentId: "a", name: "copy", readOnly: false, values: valuesOf(copy, { from: ["a", "b", "c"], to: "d" }) };
    expect(judge(call, { permission, bounds: [], stored: [], box: null }).verdict).toBe("allow");
    expect(asked).toBe(1);
  });

  it("a line of which a rule, a reading command and the mode each allow a part is allowed by the mode", () => {
    const source = { mode: "auto", allow: ["shell(command:npm *)"], readOnlyCommands: true } as const;
    expect(judged(shell, { command: "npm run x; ls; make y" }, source)).toMatchObject({ decidedBy: "mode auto" });
    expect(judged(shell, { command: "npm run x; ls" }, source)).toMatchObject({ decidedBy: "allow shell(command:npm *)" });
    expect(judged(shell, { command: "ls" }, source)).toMatchObject({ decidedBy: "readOnlyCommands" });
  });
});

describe("deny and ask rules speak of the call as a whole", () => {
  const object = (properties: object, required: string[]) => ({ type: "object", required, properties }) as const;
  const text = { type: "string", nullable: true } as const;
  const own = (name: string, given: object): Tool =>
    defineTool({ name, description: "Tested.", readOnly: false, run: () => ({ output: "", details: null }), ...given } as never);
  const edits = { type: "array", items: object({ path: { type: "string" } }, ["path"]) };
  const TOOLS = [
    own("run_file", { paths: { command: "read" }, inputSchema: object({ command: { type: "string" } }, ["command"]) }),
    own("deploy", { commands: ["command"], inputSchema: object({ command: text, path: text }, []) }),
    own("put", { paths: { "edits[].path": "write" }, inputSchema: object({ path: text, edits }, []) }),
    own("two", { commands: ["a", "b"], inputSchema: object({ a: text, b: text }, []) }),
    own("search", { commands: ["command"], paths: { files: "read" }, inputSchema: object({ command: text, files: text }, []) }),
  ];
  const vocabulary = {
    tools: new Map([...VOCABULARY.tools, ...TOOLS.map((tool) => [tool.name, tool] as const)]),
    modes: new Map(),
  };
  const verdictOn = (
    name: string,
    input: Parameters<typeof ruleValues>[1],
    source: PermissionSource,
    isBoxed = false,
  ): Explanation => {
    const tool = vocabulary.tools.get(name) ?? shell;
    const { permission, problems } = readPermission(source, "test", vocabulary);
    expect(problems).toEqual([]);
    const call = { agentId: "a", name, readOnly: tool.readOnly, values: valuesOf(tool, input) };
    return judge(call, { permission, bounds: [], stored: [], box: isBoxed ? { protectedPaths: [] } : null });
  };

  it.each<[string, Parameters<typeof ruleValues>[1], string]>([
    ["shell", { command: "git push" }, "*(command:git push)"],
    ["deploy", { command: "make ship", path: "prod" }, "*(path:prod)"],
    ["put", { path: "prod", edits: [{ path: "docs/a" }] }, "put(path:prod)"],
    ["put", { path: "prod", edits: [{ path: "docs/a" }] }, "*(path:prod)"],
    [
      "fs_multi_edit",
      { edits: ["docs/a", "src/b"].map((path) => ({ path, old_string: "a", new_string: "b" })) },
      "fs_multi_edit(path:docs, edits[].path:src)",
    ],
  ])("%s of %j is denied by %s, in a box as well, and asked about by the same", (name, input, rule) => {
    for (const isBoxed of [false, true])
      expect(verdictOn(name, input, { mode: "auto", deny: [rule] }, isBoxed).verdict).toBe("deny");
    expect(verdictOn(name, input, { mode: "auto", ask: [rule] }).verdict).toBe("ask");
  });

  it("a rule with two conditions on command lines needs both, each in its own line", () => {
    const deny = ["two(a:git status, b:npm test)"];
    expect(verdictOn("two", { a: "git status", b: "ls" }, { mode: "auto", deny }, true).verdict).toBe("allow");
    expect(verdictOn("two", { a: "git status", b: "npm test" }, { mode: "auto", deny }, true).verdict).toBe("deny");
  });

  it("an ask rule about a command that an allow rule takes in holds for the rest of the line", () => {
    const source = { mode: "auto", allow: ["shell(command:git *)"], ask: ["shell(command:git push)"] } as const;
    expect(verdictOn("shell", { command: "git push" }, source).verdict).toBe("allow");
    expect(verdictOn("shell", { command: "touch a; git push" }, source).verdict).toBe("ask");
  });

  it("a command that only reads runs beside one that a rule allows, whatever asks about the tool", () => {
    const source = { mode: "approval", readOnlyCommands: true, allow: ["shell(command:npm run build)"] } as const;
    const verdict = (command: string, given: PermissionSource): string =>
      verdictOn("shell", { command }, { ...source, ...given }).verdict;
    for (const given of [{ requireApprovalTools: ["shell"] }, { ask: ["shell"] }]) {
      expect(verdict("git status && npm run build", { ...given, ask: [] })).toBe("allow");
      expect(verdict("npm run build && rm x", given)).toBe("ask");
    }
    expect(verdict("git status", { requireApprovalTools: ["shell"] })).toBe("ask");
  });

  it("a rule about a text marks no command of the line as the part that it forbids", () => {
    const { verdict, parts } = verdictOn("deploy", { command: "make b", path: "x" }, { mode: "auto", deny: ["deploy(path:x)"] });
    expect({ verdict, parts }).toEqual({ verdict: "deny", parts: undefined });
  });

  it("a line without commands runs nothing, also beside a file", () => {
    const source = { mode: "approval", readOnlyCommands: true } as const;
    for (const command of ["", "# nothing"])
      expect(verdictOn("search", { command, files: "src" }, source)).toMatchObject({
        verdict: "allow",
        decidedBy: "readOnlyCommands",
      });
  });
});

describe("the explanation of a call that several rules allow", () => {
  it("names the rules of files", () => {
    const allow = ["copy(from:/src/**)", "copy(from:/docs/**)"];
    const { reason } = judged(copy, { from: ["src/a", "docs/b"], to: "x" }, { mode: "approval", allow });
    expect(reason).toBe("the rules copy(from:/src/**) and copy(from:/docs/**) allow it");
  });

  it("names each command once, line by line", () => {
    const allow = ["shell(command:make *)", "shell(command:npm *)"];
    const { reason } = judged(shell, { command: "timeout 5 make a; make b; npm test" }, { mode: "approval", allow });
    expect(reason).toBe(
      "allow rules take in all of its commands: characters 1 to 16 of command by shell(command:make *); characters 19 to 24 of command by shell(command:make *); characters 27 to 34 of command by shell(command:npm *)",
    );
  });
});

describe("faults that users of other systems report", () => {
  const verdict = (command: string, source: PermissionSource): string =>
    judged(shell, { command }, { mode: "auto", ...source }).verdict;

  it.each([
    "find src -type f | xargs rm",
    "echo a | xargs rm -rf",
    "find src -exec rm {} \\;",
    "npm x && rm -rf a",
    "npm x ; rm a",
  ])("a deny rule for a command that is another's, or not the first: %s (claude-code 41559, 37662)", (line) =>
    expect(verdict(line, { deny: ["shell(command:rm *)"] })).toBe("deny"),
  );

  it.each(["{ cat foo.txt; }", "cat <(ls) foo.txt", "(cat foo.txt)"])(
    "a deny rule for a file that a group or a substitution reads: %s (claude-code 70369)",
    (line) => expect(verdict(line, { deny: ["fs_read(path:foo.txt)"] })).not.toBe("allow"),
  );

  it.each(["echo a >> foo.txt", "{ echo a >> foo.txt; }", "printf a > foo.txt"])(
    "a deny rule for writing that a redirection evades: %s (claude-code 70369)",
    (line) => expect(verdict(line, { deny: ["fs_write(path:foo.txt)"] })).toBe("deny"),
  );

  it.each(["cd src && python3 x.py", "git log; rm a", "git log && touch a", "git log\ntouch a"])(
    "an allow rule for the first command of a line: %s (claude-code 28784, 94314)",
    (line) => expect(verdict(line, { mode: "approval", allow: ["shell(command:cd *)", "shell(command:git log *)"] })).toBe("ask"),
  );

  it.each(["pylint apps | grep x", "git commit -m a && git status"])(
    "a question about a line whose commands rules allow each: %s (claude-code 46868, 39192)",
    (line) => {
      const allow = ["shell(command:pylint *)", "shell(command:grep *)", "shell(command:git *)"];
      expect(verdict(line, { mode: "approval", allow })).toBe("allow");
    },
  );
});

/** The work of this thread since then, in ms of its processor: other programs of the machine do not count. */
function workedMs(began: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000;
}

it("is quick for many lines", () => {
  const lines = Array.from({ length: 2_000 }, () => "ls");
  const many = defineTool<{ lines: string[] }>({
    name: "many",
    description: "Takes command lines.",
    readOnly: false,
    commands: ["lines"],
    inputSchema: { type: "object", required: ["lines"], properties: { lines: { type: "array", items: { type: "string" } } } },
    run: () => ({ output: "", details: null }),
  });
  const began = process.threadCpuUsage();
  expect(judged(many, { lines }, { mode: "approval", readOnlyCommands: true }).verdict).toBe("allow");
  expect(workedMs(began)).toBeLessThan(2_000);
});

it("is quick for many acts and many rules", () => {
  const rules = (list: string): string[] => Array.from({ length: 100 }, (_, index) => `copy(${list}:/other${index}/**)`);
  const from = Array.from({ length: 1_000 }, (_, index) => `src/${index}.ts`);
  const began = process.threadCpuUsage();
  expect(judged(copy, { from, to: "x" }, { mode: "auto", allow: rules("from"), deny: rules("to") }).verdict).toBe("allow");
  expect(workedMs(began)).toBeLessThan(1_000);
});

describe("what a permission says of its agent's descendants", () => {
  it("is its mode, with what is allowed by it", () => {
    const template = { permission: permissionOf({ mode: "approval", allow: ["copy"] }) };
    const bounds = boundsOfDescendants(
      { permission: template.permission, bounds: [] },
      { agentId: "root", templateId: "lead" },
      false,
    );
    const policy = { permission: permissionOf({ mode: "auto" }), bounds, stored: [], box: null };
    const judged = judge(
      { agentId: "a", name: "shell", readOnly: false, values: valuesOf(shell, { command: "make x" }) },
      policy,
    );
    expect(judged).toMatchObject({ verdict: "ask", place: expect.stringContaining("of the ancestor root") });
    expect(
      judge({ agentId: "a", name: "copy", readOnly: false, values: valuesOf(copy, { from: ["a"], to: "b" }) }, policy).verdict,
    ).toBe("allow");
  });

  it("are the deny and ask rules of the agent's own permission, and none of its template's lists of tools", () => {
    const template = { permission: permissionOf({ mode: "auto", deny: ["fs_write"] }), presentPermission: null, above: [] };
    const source = {
      mode: "auto",
      deny: ["fs_read(path:.env)", "network(host:example.com)"],
      ask: ["shell"],
      allow: ["fs_glob"],
    };
    const own = { scope: "TIGHTEN", source } as const;
    const bounds = boundsOfDescendants(
      agentPermissions(template, own, VOCABULARY),
      { agentId: "root", templateId: "lead" },
      false,
    );
    const policy = { permission: permissionOf({ mode: "auto" }), bounds };
    expect(judgeOpening(policy, [".env"], "read").verdict).toBe("deny");
    expect(judgeConnection({ ...policy, listedHosts: [], storedHosts: [] }, "example.com", 443).verdict).toBe("deny");
    const verdict = (tool: Tool, input: Parameters<typeof ruleValues>[1]): string =>
      judge(
        { agentId: "a", name: tool.name, readOnly: false, values: valuesOf(tool, input) },
        { ...policy, stored: [], box: null },
      ).verdict;
    expect(verdict(shell, { command: "make x" })).toBe("ask");
    expect(verdict(copy, { from: ["a"], to: "b" })).toBe("allow");
  });
});
