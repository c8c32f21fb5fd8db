import { expect, it } from "vitest";
import { Answers, KeptPages } from "../../src/events/reading/answers.ts";
import type { ReaderPage } from "../../src/events/reading/pages.ts";

const page: ReaderPage = {
  head: { tenant: "one", logId: "log", epoch: "1", position: 1, floor: 0, erased: 0 },
  events: [],
  covered: 1,
  start: 0,
  isLast: false,
  outage: null,
};

it("an answer holds the memory of its own bytes, and not that of a pool of which it is a part", async () => {
  const answers = new Answers(new KeptPages());
  const bytes = Buffer.from("a page");
  expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.length);
  const answer = await answers.once(0, page, async () => ({ kind: "bytes", bytes, isLasting: true }));
  if (answer.kind !== "bytes") throw new Error("there is no answer");
  expect(new TextDecoder().decode(answer.bytes)).toBe("a page");
  expect(answer.bytes.buffer.byteLength).toBe(bytes.length);
});
