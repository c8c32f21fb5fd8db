import { expect, it } from "vitest";
import { FailedTries } from "../../src/deliveries/delivery.ts";

it("a refused delivery is warned of once for each reason, then counted, and said again after an hour", () => {
  const lines: string[] = [];
  let minutes = 0;
  const tries = new FailedTries(
    { tell: (_event, line) => void lines.push(line), warn: () => {}, error: () => {} },
    () => minutes * 60_000,
  );
  for (let position = 1; position <= 20; position += 1)
    tries.record("acme", "webhook.inbox", `DONE at ${position}`, "a private network");
  tries.record("acme", "webhook.inbox", "DONE at 21", "the target answered 500");
  tries.record("acme", "webhook.other", "DONE at 1", "a private network");
  expect(lines).toEqual([
    "DONE at 1 was not delivered to webhook.inbox (a private network); trying again",
    "DONE at 21 was not delivered to webhook.inbox (the target answered 500); trying again",
    "DONE at 1 was not delivered to webhook.other (a private network); trying again",
  ]);
  expect(tries.count).toBe(22);
  minutes = 61;
  tries.record("acme", "webhook.inbox", "DONE at 1", "a private network");
  expect(lines.at(-1)).toBe(
    "DONE at 1 was not delivered to webhook.inbox (a private network); trying again (19 more since the last such line)",
  );
  tries.giveUp("acme", "webhook.inbox", "DONE at 1", "a private network");
  expect(tries.of("acme", "webhook.inbox")).toEqual({ failedTries: 22, givenUp: 1 });
  expect(tries.of("other", "webhook.inbox")).toEqual({ failedTries: 0, givenUp: 0 });
});
