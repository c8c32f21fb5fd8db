import { expect, it } from "vitest";
import { AllowAlwaysDocument } from "../../generated/documents.ts";
import { ofType } from "../../support/client.ts";
import { ACTORS, ask, office } from "../../support/office.ts";

/** "go" makes the model write a.txt with this text. */
function writing(content: string) {
  return {
    replies: [
      { when: { user: "go" }, call: [{ tool: "fs_write", input: { path: "a.txt", content } }] },
      { when: {}, say: ["Hello."] },
    ],
  };
}

it.each([
  [
    "looks right only where it begins",
    ".trusted.example",
    ".evil.example/steal",
    'content:"https://*.trusted.example"',
    "DENIED",
  ],
  ["has what a rule looks for at its end", "", " BAD", 'content:"*BAD*"', "COMPLETED"],
])("a listener's rule sees the whole of a text that %s", async (_name, middle, end, condition, state) => {
  const head = `https://${"a".repeat(256 - "https://".length - middle.length)}${middle}`;
  const { as } = await office(
    {},
    {
      script: writing(`${head}${end}`),
      config: {
        ...ACTORS,
        on: {
          PERMISSION_REQUIRED: async ({ request: { approvalId, inputHash } }, { matches, decide }) => {
            const decision = (await matches(approvalId, `fs_write(path:/a.txt, ${condition})`)) ? "ALLOW" : "DENY";
            await decide({ as: "texts-bot", approvalId, decision, inputHash });
          },
        },
      },
    },
  );
  const { id } = await as("anna").createAgent();
  expect(ofType(await as("anna").turn(id, "go"), "PermissionDecided")).toHaveLength(1);
  expect((await as("anna").agent(id)).toolCalls.nodes).toMatchObject([{ state }]);
});

it("a rule that takes in only the beginning of a text does not take in the call, and is not stored", async () => {
  const beginning = "x".repeat(256);
  const { as } = await office({}, { script: writing(`${beginning}y`) });
  const { approvalId } = await ask(as("anna"), "go");
  const allow = async (content: string) => {
    const input = { approvalId, rule: `fs_write(path:/a.txt, content:${content})` };
    return (await as("paul").get(AllowAlwaysDocument, { input })).allowAlways.userErrors;
  };
  expect(await allow(beginning)).toMatchObject([{ code: "INVALID", message: expect.stringContaining("does not match") }]);
  expect(await allow(`${beginning}y`)).toEqual([]);
});
