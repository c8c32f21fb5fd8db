import fc from "fast-check";
import { expect, it } from "vitest";
import { MessageTooLarge, readableEvents } from "../../../src/agent/mcp/messages/readable-body.ts";

/** The pieces that come out of a stream of events, as texts. */
async function read(...pieces: readonly Uint8Array[]): Promise<readonly string[]> {
  const left = [...pieces];
  const read = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = left.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  }).pipeThrough(readableEvents());
  const texts: string[] = [];
  for await (const piece of read) texts.push(Buffer.from(piece).toString());
  return texts;
}

const event = (text: string, end = "\n"): string => `data: ${JSON.stringify({ id: 1, method: "m", text })}${end}${end}`;
const MEGABYTE = 1024 * 1024;

it.each([
  ["empty lines", "\n"],
  ["empty lines with CR LF", "\r\n"],
  ["comments", ": x\n"],
  ["lines of no field", "x\n"],
  ["lines of empty fields", "event\n"],
])("%s without end cost a look at each byte, and nothing comes out", async (_what, line) => {
  const piece = Buffer.from(line.repeat(64 * 1024));
  const before = process.cpuUsage();
  expect(await read(...Array.from({ length: 24 }, () => piece), Buffer.from(event("end")))).toHaveLength(1);
  // Pieces in a queue for each line took a minute.
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
});

it.each(["\n", "\r\n", "\r"])("messages in a long stream are counted one by one, with lines that end with %j", async (end) => {
  const one = Buffer.from(event("x".repeat(3 * MEGABYTE), end));
  const texts = await read(one, one, one, one, one);
  expect(texts.join("").length).toBeGreaterThan(15 * MEGABYTE);
});

it.each([
  ["one line", (text: string) => `data: ${text}`],
  ["many lines", (text: string) => text.replaceAll(/.{1000}/g, "data: $&\n")],
  ["many lines between comments", (text: string) => text.replaceAll(/.{1000}/g, "data: $&\n:\n")],
])("a message above its bound ends the stream, on %s", async (_what, written) => {
  const pieces = Array.from({ length: 11 }, () => Buffer.from(written("x".repeat(MEGABYTE))));
  await expect(read(...pieces)).rejects.toThrow(MessageTooLarge);
});

it("messages are the same wherever the stream is cut into pieces", async () => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { maxLength: 5 });
  const ends = fc.constantFrom("\n", "\r\n", "\r");
  await fc.assert(
    fc.asyncProperty(texts, ends, fc.array(fc.nat(200), { maxLength: 10 }), async (given, end, cuts) => {
      const whole = Buffer.from(given.map((text) => `: note${end}${event(text, end)}`).join(""));
      const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).toSorted((a, b) => a - b), whole.length];
      const pieces = places.slice(1).map((place, index) => whole.subarray(places[index], place));
      expect((await read(...pieces)).join("")).toBe(given.map((text) => event(text)).join(""));
    }),
  );
});

it("the last message of an event in a list has the id of the event", async () => {
  const [text] = await read(Buffer.from('id: 7\nevent: message\ndata: [{"id":1,"result":{}},{"id":2,"error":"x"}]\n\n'));
  expect(text).toBe(
    'event: message\ndata: {"id":1,"jsonrpc":"2.0","result":{}}\n\n' +
      'event: message\nid: 7\ndata: {"id":2,"jsonrpc":"2.0","error":{"message":"x","code":-32603}}\n\n',
  );
});
