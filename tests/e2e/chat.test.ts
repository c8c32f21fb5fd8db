import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { presets, type TemplateConfig } from "../../src/triplane.ts";
import { CompleteToolCallDocument, RetryTurnDocument, WithdrawMessageDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { assistantScript } from "../support/assistant.ts";
import { makes } from "../support/bash.ts";
import { connect, ofType } from "../support/client.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { calls, hangsAfter, playedModel, says } from "../support/models.ts";
import { runAtTerminal, runFile } from "../support/process.ts";
import { startTeam } from "../support/scripted-team.ts";
import { exampleWorkspace } from "../support/server-process.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel } from "../support/windowed-model.ts";
import { beforeJoin } from "../support/writes.ts";

/** The client tools of the assistant of the project's own configuration. */
async function clientTools(): Promise<NonNullable<TemplateConfig["clientTools"]>> {
  const { default: config } = await import("../../triplane.config.ts");
  return config.templates["assistant"]?.clientTools ?? {};
}

describe("npm run chat", () => {
  it("talks with an agent: text as it comes, tools, approvals, and the past of an agent that is there", async () => {
    const workspace = await exampleWorkspace();
    const server = await startTestApp({ script: await assistantScript(), config: { workspaceRoots: [workspace] } });
    const chat = runFile("examples/chat/chat.ts", ["--url", server.url, "--workspace", workspace]);
    const [, agent = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.write("Find every TODO and make a todo for each.\n");
    await chat.says("[fs_grep]");
    await chat.says("May todo_write run?");
    chat.child.stdin?.write("y\n");
    await chat.says("→ todo_write allowed by local");
    await chat.says("The list has 3 todos");
    chat.child.stdin?.end("What is on your todo list?\n");
    expect(await chat.exited, chat.output()).toBe(0);
    expect(chat.output()).not.toContain("> Find every TODO");

    const again = runFile("examples/chat/chat.ts", ["--url", server.url, "--agent", agent, "--since", "0"]);
    await again.says("> Find every TODO and make a todo for each.");
    await again.says("The list has 3 todos");
    await again.says("> What is on your todo list?");
    expect(again.output()).not.toContain("May todo_write run?");
    again.child.stdin?.end();
    expect(await again.exited).toBe(0);
  }, 60_000);

  it("shows the value of an answer in a shape, and the problems of one that does not have it", async () => {
    const script = {
      replies: [
        { when: { user: "^count" }, say: ['{"files":2}'] },
        { when: {}, say: ["Two."] },
      ],
    };
    const outputSchema = { type: "object", required: ["files"] };
    const app = await startTestApp({ script, template: { outputSchema, corrections: 0 } });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    await chat.says(/Agent (\S+) works in/);
    chat.child.stdin?.write("count\n");
    await chat.says('value: {\n  "files": 2\n}');
    chat.child.stdin?.end("how many?\n");
    await chat.says("(the turn ended: SHAPE)");
    await chat.says("  /: is no JSON");
    expect(await chat.exited, chat.output()).toBe(0);
  });

  it.each(["/compact", "/compact keep the colour"])(
    "shows how full the context is, and compacts it on %s",
    async (command) => {
      const model = windowedModel({ window: 20_000, reply: () => ({ text: "ok" }), summary: () => "Facts: blue." });
      const server = await startTestApp({ model, template: { tools: ["todo_read"] } });
      const client = connect(server.url);
      const { id } = await client.createAgent();
      for (const turn of [0, 1, 2]) await client.turn(id, `${turn} ${"m".repeat(4_000)}`);
      const chat = runFile("examples/chat/chat.ts", ["--url", server.url, "--agent", id]);
      await chat.says(/Agent (\S+) works in/);
      chat.child.stdin?.write(`3 ${"m".repeat(4_000)}\n`);
      await chat.says(/\(context 2\d % of 20k tokens\)/);
      chat.child.stdin?.write(`${command}\n`);
      await chat.says(/\(Context compacted, older messages were summarised: \d+ → \d+ tokens\)/);
      expect(JSON.stringify(model.summaries[0])).toContain(command.slice("/compact ".length));
      chat.child.stdin?.end();
      expect(await chat.exited, chat.output()).toBe(0);
    },
    60_000,
  );

  it("shows the agents that calls start, with their ends, and asks what they ask, by their tasks", async () => {
    const app = await startTeam();
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    const [, agent = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.write("split the work\n");
    await chat.says("(look around: worker begins)");
    await chat.says("(look around: done. There is a folder.)");
    await chat.says("fs_write: [y/n]");
    // Another chat with the same agent asks the same.
    const other = runFile("examples/chat/chat.ts", ["--url", app.url, "--agent", agent]);
    await other.says("fs_write: [y/n]");
    other.child.kill("SIGTERM");
    expect(other.output()).not.toContain("begins");
    chat.child.stdin?.write("y\ny\n");
    await chat.says("(write a.txt: done. It is written.)");
    await chat.says("(delegate b.txt: done. A worker said: It is written.)");
    for (const line of [
      "(delegate b.txt › write b.txt: worker begins)",
      "delegate b.txt › write b.txt asks: May fs_write run?",
      "write a.txt asks: May fs_write run?",
    ])
      expect(chat.output()).toContain(line);

    chat.child.stdin?.write("write in the background\n");
    await chat.says("(write c.txt: worker begins in the background)");
    await chat.says("write c.txt asks: May fs_write run?");
    chat.child.stdin?.end("n\n");
    await chat.says("→ fs_write denied by local");
    expect(await chat.exited, chat.output()).toBe(0);
  }, 60_000);

  it("interrupts the agents in the background below an idle one by /stop", async () => {
    const app = await startTeam();
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    chat.child.stdin?.write("write in the background\n");
    await chat.says("write c.txt asks: May fs_write run?");
    chat.child.stdin?.write("/stop\n");
    await chat.says("(write c.txt: interrupted.");
    chat.child.stdin?.end();
    expect(await chat.exited, chat.output()).toBe(0);
  }, 60_000);

  it("ends with its input if the last message is taken back before its turn begins", async () => {
    const withdrawn = Promise.withResolvers<void>();
    const app = await startTestApp({
      model: playedModel(),
      overrides: {
        sql: (sql) => beforeJoin(sql, () => withdrawn.promise),
      },
    });
    const client = connect(app.url);
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    const [, agentId = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.end("a slip\n");
    const [received] = ofType(await client.until(agentId, "MESSAGE_RECEIVED"), "MessageReceived");
    await client.get(WithdrawMessageDocument, { input: { messageId: received?.messageId ?? "" } });
    expect(await chat.exited, chat.output()).toBe(0);
    expect(chat.output()).toContain("(a message that waited was taken back by local)");
    withdrawn.resolve();
  });

  it("shows what an edit would change, and the part of a command line that asks", async () => {
    const model = makes(
      ["fs_write", { path: "new.txt", content: "first\nsecond\n" }],
      ["bash_run", { command: "git status && make build" }],
    );
    const app = await startTestApp({ model, template: { permission: presets.readOnly } });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    chat.child.stdin?.end("go\ny\nn\n");
    expect(await chat.exited, chat.output()).toBe(0);
    expect(chat.output()).toMatch(/\n@@ .*\n\+first\n\+second\n[\s\S]*fs_write: \[y\/n\]/);
    expect(chat.output()).toMatch(/\nasks: make build \(make build is not known to only read\)\nbash_run: \[y\/n\]/);
  });

  it("shows results that are given again, files that something else has changed, and background shells with their ends", async () => {
    const input = { type: "object", required: [], properties: {} } as const;
    const outline = defineTool<Record<string, never>>({
      name: "outline",
      description: "Answers the same.",
      readOnly: true,
      cacheable: true,
      paths: {},
      inputSchema: input,
      run: () => ({ output: "one", details: null }),
    });
    const outside = ownTool("outside", async (_input, { workspace }) => {
      await writeFile(join(workspace.root, "a.txt"), "theirs");
      return { output: "changed", details: null };
    });
    const model = makes(
      ["fs_write", { path: "a.txt", content: "mine" }],
      ["outline", {}],
      ["outline", {}],
      ["outside", {}],
      ["bash_run", { command: "exit 3", background: true }],
    );
    const app = await startTestApp({ model, template: { permission: { mode: "auto" } }, config: { tools: [outline, outside] } });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    chat.child.stdin?.write("go\n");
    await chat.says("(exit 3 runs in the background)");
    await chat.says("(exit 3 ended with exit code 3)");
    chat.child.stdin?.end();
    expect(await chat.exited, chat.output()).toBe(0);
    expect(chat.output().match(/\[outline\] .*/g)).toEqual([
      expect.stringMatching(/COMPLETED in \d+ ms$/),
      expect.stringMatching(/COMPLETED in \d+ ms \(cached\)$/),
    ]);
    expect(chat.output()).toContain("(a.txt was changed by something else)");
  });

  // The command that makes a terminal is Linux's.
  it.skipIf(process.platform !== "linux")(
    "at a terminal: yes and Enter answer once, y alone answers, what else of the word comes is no message, and one question stands at a time",
    async () => {
      const tool = ownTool("effect", () => Promise.resolve({ output: "done", details: null }), false);
      const model = playedModel(
        () => calls("effect", "effect"),
        () => says("Both."),
        () => says("Hello."),
      );
      const app = await startTestApp({ model, config: { tools: [tool] } });
      const chat = runAtTerminal("examples/chat/chat.ts", ["--url", app.url]);
      const asked = (): number => chat.output().split("effect: [y/n]").length - 1;
      await chat.says("Type a message");
      chat.child.stdin?.write("go\r");
      await chat.says("effect: [y/n]");
      expect(asked()).toBe(1);
      chat.child.stdin?.write("yes\r");
      await chat.says(/allowed by local[\s\S]*effect: \[y\/n\]/);
      expect(asked()).toBe(2);
      chat.child.stdin?.write("y");
      await chat.says(/allowed by local[\s\S]*allowed by local/);
      // The rest of a word whose first letter was the answer.
      chat.child.stdin?.write("es\r");
      await chat.says("Both.");
      chat.child.stdin?.write("hi\r");
      await chat.says("Hello.");
      chat.child.stdin?.write("\u0003");
      expect(await chat.exited).toBe(0);
      expect(model.calls).toHaveLength(3);
      const sent = model.calls[2]?.request.messages.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
      );
      expect(sent).toEqual(["go", "Both.", "hi"]);
    },
  );

  it("interrupts with Ctrl-C what is under way, and ends if nothing is", async () => {
    const app = await startTestApp({
      model: playedModel(
        () => hangsAfter("I was about"),
        () => says("Hello.\u001b[2J"),
      ),
    });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    await chat.says("works in");
    chat.child.stdin?.write("go\n");
    await chat.says("I was about");
    chat.child.kill("SIGINT");
    await chat.says("(the turn ended: INTERRUPTED)");
    expect(chat.output()).toContain("… (broken off)");
    chat.child.stdin?.write("hi\n");
    await chat.says("Hello.\\u001b[2J");
    chat.child.kill("SIGINT");
    expect(await chat.exited).toBe(0);
  });

  it("interrupts with Ctrl-C also a turn that began without a message, as one that is tried again elsewhere", async () => {
    const model = playedModel(
      () => hangsAfter("I was about"),
      () => hangsAfter("Once more"),
    );
    const app = await startTestApp({ model });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url]);
    const [, agentId = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.write("go\n");
    await chat.says("I was about");
    chat.child.kill("SIGINT");
    await chat.says("(the turn ended: INTERRUPTED)");
    await connect(app.url).get(RetryTurnDocument, { input: { agentId } });
    await chat.says("Once more");
    chat.child.kill("SIGINT");
    await chat.says(/INTERRUPTED[\s\S]*INTERRUPTED/);
    chat.child.kill("SIGINT");
    expect(await chat.exited, chat.output()).toBe(0);
  });

  it("takes a pipe line by line, answers what was asked last, and says so if a question is left open", async () => {
    const workspace = await exampleWorkspace();
    const server = await startTestApp({ script: await assistantScript(), config: { workspaceRoots: [workspace] } });
    const piped = (input: string, ...args: string[]) => {
      const chat = runFile("examples/chat/chat.ts", ["--url", server.url, "--workspace", workspace, ...args]);
      chat.child.stdin?.end(input);
      return chat;
    };
    const whole = piped("Find every TODO and make a todo for each.\ny\nWhat is on your todo list?\n");
    expect(await whole.exited, whole.output()).toBe(0);
    expect(whole.output()).toMatch(/The list has 3 todos[\s\S]*This is the list/);
    const [, agent = ""] = /--agent (\S+)/.exec(whole.output()) ?? [];

    const past = piped("", "--agent", agent, "--since", "0");
    expect(await past.exited, past.output()).toBe(0);
    expect(past.output()).toContain("This is the list");
    const more = piped("What is on your todo list?\n", "--agent", agent, "--since", "0");
    expect(await more.exited, more.output()).toBe(0);
    expect(more.output().split("This is the list")).toHaveLength(3);

    const open = piped("Find every TODO and make a todo for each.\n");
    expect(await open.exited).toBe(1);
    expect(open.output()).toContain("todo_write waits for an answer, and there is no more input");
  }, 60_000);

  it("asks what the model asks, also if it is opened later, and takes a number for an option", async () => {
    const server = await startTestApp({ script: await assistantScript(), template: { clientTools: await clientTools() } });
    const chat = runFile("examples/chat/chat.ts", ["--url", server.url]);
    const [, agent = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.write("ask me\n");
    await chat.says("What shall I look at first?\n  1. the TODO comments\n  2. the README");
    chat.child.stdin?.end();
    expect(await chat.exited).toBe(1);
    expect(chat.output()).toContain("ask_user waits for an answer, and there is no more input");

    const later = runFile("examples/chat/chat.ts", ["--url", server.url, "--agent", agent]);
    await later.says("What shall I look at first?");
    later.child.stdin?.write("2\n");
    await later.says("You said: the README");
    later.child.stdin?.write("ask me\nthe tests\n");
    await later.says("You said: the tests");
    later.child.stdin?.end();
    expect(await later.exited, later.output()).toBe(0);
  }, 60_000);

  it.skipIf(process.platform !== "linux")(
    "takes a line at a terminal for the answer, and says so if another client was faster",
    async () => {
      const server = await startTestApp({ script: await assistantScript(), template: { clientTools: await clientTools() } });
      const chat = runAtTerminal("examples/chat/chat.ts", ["--url", server.url]);
      const [, agent = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
      await chat.says("Type a message");
      chat.child.stdin?.write("ask me\r");
      await chat.says("ask_user: [a number, or another answer]");
      chat.child.stdin?.write("y\r");
      await chat.says("You said: y");
      chat.child.stdin?.write("ask me\r");
      await chat.says(/You said: y[\s\S]*ask_user: \[a number, or another answer\]/);
      const client = connect(server.url);
      const waiting = ofType(await client.events(agent), "ToolWaiting").at(-1);
      const input = { callId: waiting?.call.callId ?? "", result: "from elsewhere" };
      expect((await client.get(CompleteToolCallDocument, { input })).completeToolCall.userErrors).toEqual([]);
      await chat.says("You said: from elsewhere");
      // A line after that is a message again.
      chat.child.stdin?.write("list the files\r");
      // The prompt stands again: Ctrl-C ends the chat of an idle agent.
      await chat.says(/These are the files[\s\S]*\n.*> /);
      chat.child.stdin?.write("\u0003");
      expect(await chat.exited).toBe(0);
    },
    60_000,
  );

  it("goes on while the server is away: what cannot be done is said, and nothing ends", async () => {
    const app = await startTestApp();
    const gone = await startTestApp();
    await gone.close();
    const proxy = await cuttingProxy(app.port);
    const chat = runFile("examples/chat/chat.ts", ["--url", `http://127.0.0.1:${proxy.port}`]);
    await chat.says("works in");
    chat.child.stdin?.write("hello\n");
    await chat.says("Hello.");
    proxy.leadTo(gone.port);
    proxy.cutNow();
    await chat.says("the connection was lost");
    proxy.leadTo(app.port);
    await chat.says("connected again");
    chat.child.stdin?.end("and again\n");
    expect(await chat.exited, chat.output()).toBe(0);
    expect(chat.output().split("Hello.")).toHaveLength(3);
  });

  it("ends a pipe also if its messages were answered before the server said that it took them", async () => {
    const app = await startTestApp();
    const agent = await connect(app.url).createAgent();
    const proxy = await cuttingProxy(app.port);
    const url = `http://127.0.0.1:${proxy.port}`;
    const release = proxy.holdBack('"sendMessage"');
    const chat = runFile("examples/chat/chat.ts", ["--url", url, "--agent", agent.id]);
    chat.child.stdin?.end("hello\n");
    await connect(app.url).until(agent.id, "DONE");
    await connect(app.url).turn(agent.id, "and from elsewhere");
    // What stands in the log after the turn of the first message is on the screen.
    await chat.says("> and from elsewhere");
    release();
    expect(await chat.exited, chat.output()).toBe(0);
  });

  it("says what is wrong: no agent, no server, a message that is refused", async () => {
    const app = await startTestApp();
    const missing = runFile("examples/chat/chat.ts", ["--url", app.url, "--agent", "nobody"]);
    expect(await missing.exited).toBe(1);
    expect(missing.output()).toContain("there is no agent nobody");
    const nowhere = runFile("examples/chat/chat.ts", ["--url", "http://127.0.0.1:9/graphql"]);
    expect(await nowhere.exited).toBe(1);
    expect(nowhere.output()).toContain("start one with `npm start`");
    const agent = await connect(app.url).createAgent();
    const foreign = runFile("examples/chat/chat.ts", ["--url", app.url, "--agent", agent.id, "--since", "nonsense"]);
    expect(await foreign.exited).toBe(1);
    expect(foreign.output()).toContain("this is not a cursor");
  });
});
