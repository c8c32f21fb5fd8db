import { expect, it } from "vitest";
import { InputPreviewDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

it("the beginning of an input has the wanted length, of 4,000 characters at most, and shows what is hidden", async () => {
  const content = `${"x".repeat(300)}\u202e${"y".repeat(5_000)}`;
  const script = {
    replies: [
      { when: { user: "go" }, call: [{ tool: "fs_write", input: { path: "a.txt", content } }] },
      { when: {}, say: ["Done."] },
    ],
  };
  const app = await startTestApp({ script, template: { permission: { mode: "auto" } } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  const [call] = (await client.agent(id)).toolCalls.nodes;
  const preview = async (length: number | null): Promise<string> =>
    (await client.get(InputPreviewDocument, { callId: call?.callId ?? "", length })).toolCall?.inputPreview ?? "";
  expect(await preview(null)).toBe(call?.inputPreview);
  expect(await preview(200)).toBe(call?.inputPreview);
  expect(await preview(10)).toBe('{"path":"a…');
  const long = await preview(4_000);
  expect(long).toHaveLength(4_001);
  expect(long).toContain("x\\u202ey");
  for (const length of [0, 4_001]) await expect(preview(length)).rejects.toThrow("must be between 1 and 4000");
});
