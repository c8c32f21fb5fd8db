import { describe, expect, it } from "vitest";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { hangsAfter, playedModel, says } from "../support/models.ts";
import { runFile } from "../support/process.ts";
import { exampleWorkspace, startServerProcess } from "../support/server-process.ts";

describe("npm run chat", () => {
  it("talks with an agent: text as it comes, tools, approvals, and the past of an agent that is there", async () => {
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: await temporaryFolder() });
    const workspace = await exampleWorkspace();
    const chat = runFile("examples/chat/chat.ts", ["--url", server.url, "--workspace", workspace]);
    const [, agent = ""] = /Agent (\S+) works in/.exec(await chat.says(/Agent (\S+) works in/)) ?? [];
    chat.child.stdin?.write("Find every TODO and make a todo for each.\n");
    await chat.says("[fs_grep]");
    await chat.says("May todo_write run?");
    chat.child.stdin?.write("y\n");
    await chat.says("→ allowed by local");
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

  it("interrupts with Ctrl-C what is under way, and ends where nothing is", async () => {
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
