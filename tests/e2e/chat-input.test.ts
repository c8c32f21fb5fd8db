import { expect, it } from "vitest";
import { allowed, appWith } from "../support/mcp-app.ts";
import { asks } from "../support/mcp-asking.ts";
import { ownServer } from "../support/mcp.ts";
import { runFile } from "../support/process.ts";

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
