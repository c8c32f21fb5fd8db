import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { callsOf } from "../support/bash.ts";
import { connect } from "../support/client.ts";
import { calls, callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

it("read_output reads on in the kept whole of an earlier call, by its id, without cutting a character", async () => {
  const whole = `begin ${"ä".repeat(60_000)} end`;
  const long = ownTool("long", async () => ({ output: whole, details: null }));
  const read = (offset: number) => () => callsWith(["read_output", { call: "call-long-0", offset, limit: 40_001 }]);
  const model = playedModel(
    () => calls("long"),
    read(0),
    read(40_000),
    read(80_000),
    read(120_000),
    () => callsWith(["read_output", { call: "call-none" }]),
    () => says("done"),
  );
  const app = await startTestApp({ model, config: { tools: [long] }, template: { permission: { mode: "auto" } } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  const made = await callsOf(client, id);
  const texts = made.slice(1, 5).map(({ output }) => (output ?? "").replace(/\n\[[^\n]*\]$/, ""));
  expect(texts.join("")).toBe(whole);
  expect(made.slice(1, 5).map(({ details }) => details)).toEqual([
    { call: "call-long-0", offset: 0, next_offset: 40_000, outputBytes: 120_010, isWhole: true },
    { call: "call-long-0", offset: 40_000, next_offset: 80_000, outputBytes: 120_010, isWhole: true },
    { call: "call-long-0", offset: 80_000, next_offset: 120_000, outputBytes: 120_010, isWhole: true },
    { call: "call-long-0", offset: 120_000, next_offset: null, outputBytes: 120_010, isWhole: true },
  ]);
  expect(made.at(-1)?.output).toContain("you have made no call call-none");
});

it("read_output reads no output of another agent", async () => {
  const own = ownTool("own", async () => ({ output: "a secret", details: null }));
  const model = playedModel(
    () => calls("own"),
    () => says("done"),
    () => callsWith(["read_output", { call: "call-own-0" }]),
    () => says("done"),
  );
  const app = await startTestApp({ model, config: { tools: [own] } });
  const client = connect(app.url);
  await client.turn((await client.createAgent()).id, "go");
  const other = await client.createAgent();
  await client.turn(other.id, "go");
  expect((await callsOf(client, other.id)).map(({ state }) => state)).toEqual(["FAILED"]);
});
