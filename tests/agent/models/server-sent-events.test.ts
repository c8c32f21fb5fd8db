import { expect, it } from "vitest";
import { bodyText, serverSentEvents } from "../../../src/agent/models/provider-requests.ts";

/** A body that never ends, and says when nobody reads it any longer. */
function endless(type: string): { readonly response: Response; readonly cancelled: Promise<void> } {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const piece = new TextEncoder().encode(`"${"x".repeat(1_000_000)}`);
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(piece),
    cancel: () => resolve(),
  });
  return { response: new Response(body, { headers: { "content-type": type } }), cancelled };
}

it("a body without an end is read as far as is needed, and let go", async () => {
  const { response, cancelled } = endless("text/html");
  expect((await bodyText(response, 100)).length).toBe(100);
  await cancelled;
  expect(await bodyText(new Response("short"), 100)).toBe("short");
  expect(await bodyText(new Response(null), 100)).toBe("");
});

it("an answer of one JSON body without an end is broken", async () => {
  const { response, cancelled } = endless("application/json");
  const events = serverSentEvents(response, new AbortController().signal);
  await expect(events.next()).rejects.toThrow("the model's answer has more than");
  await cancelled;
});
