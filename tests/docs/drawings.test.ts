import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { TRANSITIONS } from "../../src/agent/calls/call.ts";
import { CHANNEL_OF, EVENT_KINDS } from "../../src/events/event.ts";

it("ARCHITECTURE.md draws every step of a call from state to state, and no other", async () => {
  const text = await readFile(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
  const drawn = [...text.matchAll(/^ {2}([A-Z_]+) --> ([A-Z_]+):/gm)].map(([, from, to]) => `${from} ${to}`);
  const steps = Object.entries(TRANSITIONS).flatMap(([from, tos]) => tos.map((to) => `${from} ${to}`));
  expect(drawn.toSorted()).toEqual(steps.toSorted());
});

it("docs/graphql.md has every kind of event in the table of planes, and draws a turn with kinds on their planes", async () => {
  const text = await readFile(new URL("../../docs/graphql.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (progress|control|monitor) \| (.*) \|$/gm)];
  const listed = rows.flatMap(([, plane = "", kinds = ""]) =>
    kinds.match(/[A-Z_]{4,}/g)?.map((kind) => [kind, plane.toUpperCase()]),
  );
  expect(Object.fromEntries(listed as [string, string][])).toEqual(CHANNEL_OF);
  const drawn = [...text.matchAll(/^.{27}([PCM]) (.*)$/gm)].flatMap(([, plane, kinds = ""]) =>
    (kinds.match(/[A-Z_]{4,}/g) ?? [])
      .filter((kind) => EVENT_KINDS.some((each) => each === kind))
      .map((kind) => `${plane} ${kind}`),
  );
  expect(drawn.length).toBeGreaterThan(25);
  for (const each of drawn) expect(each[0]).toBe(CHANNEL_OF[each.slice(2) as keyof typeof CHANNEL_OF][0]);
});
