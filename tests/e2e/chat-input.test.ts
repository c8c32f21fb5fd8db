import { expect, it } from "vitest";
import { allowed, appWith } from "../support/mcp-app.ts";
import { asks } from "../support/mcp-asking.ts";
import { ownServer } from "../support/mcp.ts";
import { runAtTerminal, runFile } from "../support/process.ts";

it(
  "npm run chat shows the form of a tool's question, and sends typed values, defaults and a no",
  { timeout: 60_000 },
  async () => {
    const sure = { type: "object", properties: { sure: { type: "boolean", default: true } } };
    const ask = [asks().params, asks(sure, "Sure?").params, asks(sure, "Really?").params];
    const { app } = await appWith({ own: ownServer("asking.mjs") }, ["mcp__own__work", { ask }], {
      template: { ...allowed("own"), selfApproval: true },
    });
    const chat = runFile("examples/chat/chat.ts", ["--url", app.url, "--workspace", app.workspace]);
    await chat.says("works in");
    chat.child.stdin?.write("book a room\n");
    await chat.says("Which hotel?");
    await chat.says("city *: text. City: Where to");
    await chat.says('room: s (Single), d (Double), "s" if left out');
    chat.child.stdin?.write("city=Bonn; nights=3; extras=tv\n");
    await chat.says("Sure?");
    chat.child.stdin?.write("y\n");
    await chat.says("Really?");
    chat.child.stdin?.end("n\n");
    await chat.says("Done.");
    await chat.exited;
    const rows = await app.database.sql.query<{ output: string }, []>({ name: "", text: "SELECT output FROM tool_call" }, []);
    expect(JSON.parse(rows[0]?.output ?? "")).toEqual([
      { action: "accept", content: { city: "Bonn", nights: 3, breakfast: true, room: "s", extras: ["tv"] } },
      { action: "accept", content: { sure: true } },
      { action: "decline" },
    ]);
  },
);

// The command that makes a terminal is Linux's.
it.skipIf(process.platform !== "linux")(
  "at a terminal a form stands alone, a line that is no answer is told, and a refusal shows the wrong field",
  { timeout: 60_000 },
  async () => {
    const form = {
      type: "object",
      properties: { sure: { type: "boolean" }, size: { type: "string", enum: ["small", "large"] } },
    };
    const { app } = await appWith({ own: ownServer("asking.mjs") }, ["mcp__own__work", { ask: [asks(form, "Sure?").params] }], {
      template: { ...allowed("own"), selfApproval: true },
    });
    const chat = runAtTerminal("examples/chat/chat.ts", ["--url", app.url, "--workspace", app.workspace]);
    const timesOf = (text: string) => chat.output().split(text).length - 1;
    await chat.says("Type a message");
    chat.child.stdin?.write("/wrong\r");
    await chat.says("there is no command /wrong. There is /stop");
    chat.child.stdin?.write("go\r");
    await chat.says("n to decline]");
    expect(chat.output()).toContain("size: small, large\r\n");
    chat.child.stdin?.write("foo\r");
    await chat.says("mcp__own__work waits for sure=value; name=value, y for the defaults, n to decline");
    // Nothing turns on the line of the person. While an answer is on its way, it may.
    expect(chat.output().slice(chat.output().indexOf("n to decline]"))).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    chat.child.stdin?.write("sure=maybe\r");
    await chat.says("Not done: sure must be true or false");
    expect([timesOf("\nSure?\r\n"), timesOf("size: small, large"), timesOf("sure: boolean")]).toEqual([1, 1, 2]);
    chat.child.stdin?.write("sure=yes\r");
    await chat.says("Done.");
    chat.child.stdin?.write("\u0003");
    expect(await chat.exited).toBe(0);
  },
);
