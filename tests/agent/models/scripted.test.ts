import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";

it("a scripted model thinks first, if its script says what, for frontends that show thinking", async () => {
  const script = { replies: [{ when: {}, think: "A greeting: {{user}}", say: ["Hello."] }] };
  const client = connect((await startTestApp({ script, template: { exposeThinking: true } })).url);
  const events = await client.turn((await client.createAgent()).id, "hi");
  expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ block: 0, text: "A greeting: hi", aborted: false }]);
  expect(ofType(events, "TextChunkEnd")).toMatchObject([{ block: 1, text: "Hello." }]);
  expect(textOf(events)).toBe("Hello.");
});
