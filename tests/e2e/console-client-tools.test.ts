import { expect } from "vitest";
import type { Page } from "playwright-core";
import { Type } from "../../src/triplane.ts";
import { tokenActor } from "../support/actors.ts";
import { screenshot } from "../support/browser.ts";
import { connect } from "../support/client.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { browserOf, withChromium } from "../support/example-app.ts";

const ACTORS = [tokenActor("anna", ["user"]), tokenActor("vera", ["viewer"])].map(({ actor }) => actor);

const CLIENT_TOOLS = {
  pick_room: {
    description: "Asks the person for a room.",
    inputSchema: Type.Object({ day: Type.String() }),
    outputSchema: {
      type: "object",
      required: ["room", "seats"],
      additionalProperties: false,
      properties: { room: { type: "string", minLength: 3 }, seats: { type: "integer", minimum: 2 } },
    },
    readOnly: true,
  },
  say_why: { description: "Asks the person for the reason.", inputSchema: Type.Object({}), readOnly: true },
} as const;

const SCRIPT = {
  replies: [
    { when: { user: "^room" }, call: [{ tool: "pick_room", input: { day: "Monday" } }] },
    { when: { user: "^why" }, call: [{ tool: "say_why", input: {} }] },
    { when: {}, say: ["Thank you."] },
  ],
};

async function office() {
  const world = await consolePage({ config: { actors: ACTORS }, script: SCRIPT, template: { clientTools: CLIENT_TOOLS } });
  const anna = connect(world.app.url, "anna-token");
  const { id } = await anna.createAgent({ title: "Rooms" });
  const signIn = async (page: Page, name: string): Promise<void> => {
    await page.goto(new URL(`/console/agents/${id}`, world.app.url).href);
    await page.getByLabel("Access token").fill(`${name}-token`);
    await page.keyboard.press("Enter");
  };
  const answerOf = (page: Page, tool: string) => page.getByRole("region", { name: `Answer ${tool}` });
  return { ...world, anna, id, signIn, answerOf };
}

withChromium("console: a client tool is answered by keyboard, and each wrong place is shown", { timeout: 60_000 }, async () => {
  const { page, anna, id, signIn, answerOf, complaints } = await office();
  await anna.send(id, "room please");
  await signIn(page, "anna");
  const answer = answerOf(page, "pick_room");
  await answer.getByText("Monday").waitFor();
  await answer.getByLabel("room").focus();
  await page.keyboard.type("A");
  await page.keyboard.press("Tab");
  await page.keyboard.type("1");
  await page.keyboard.press("Control+Enter");
  await answer.getByRole("alert").filter({ hasText: "/result/room" }).waitFor();
  await answer.getByRole("alert").filter({ hasText: "/result/seats" }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await screenshot(page, "console-client-tool");
  // A second tab has the same form, until the first has answered.
  const second = await browserOf(page).newPage();
  await signIn(second, "anna");
  await answerOf(second, "pick_room").waitFor();
  await answer.getByLabel("room").fill("A12");
  await answer.getByLabel("seats").fill("4");
  await page.keyboard.press("Control+Enter");
  await answer.waitFor({ state: "detached" });
  await answerOf(second, "pick_room").waitFor({ state: "detached" });
  await anna.until(id, "DONE");
  const { toolCalls } = await anna.agent(id);
  expect(toolCalls.nodes).toMatchObject([{ state: "COMPLETED", details: { room: "A12", seats: 4 } }]);
  expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
});

withChromium("console: a client tool without a form takes a text, or fails with words", { timeout: 60_000 }, async () => {
  const { page, anna, id, signIn, answerOf } = await office();
  await anna.send(id, "why?");
  await signIn(page, "anna");
  const answer = answerOf(page, "say_why");
  await answer.getByLabel("Result (a text, or JSON)").fill("because");
  await answer.getByRole("button", { name: "Send the result" }).press("Enter");
  await anna.until(id, "DONE");
  await answer.waitFor({ state: "detached" });
  await anna.send(id, "why again?");
  await answer.getByRole("button", { name: "Fail with words …" }).press("Enter");
  await answer.getByLabel("Error for the model").fill("nobody knows");
  await page.keyboard.press("Control+Enter");
  await answer.waitFor({ state: "detached" });
  const { toolCalls } = await anna.agent(id);
  expect(toolCalls.nodes).toMatchObject([
    { state: "COMPLETED", output: "because" },
    { state: "FAILED", output: expect.stringContaining("nobody knows") },
  ]);
});

withChromium("console: a viewer sees why they may not answer a client tool", { timeout: 60_000 }, async () => {
  const { page, anna, id, signIn, answerOf } = await office();
  await anna.send(id, "room please");
  await signIn(page, "vera");
  const answer = answerOf(page, "pick_room");
  await answer.getByText("You may not answer").waitFor();
  expect(await answer.getByRole("button", { name: "Send the result" }).isDisabled()).toBe(true);
  expect(await axeViolations(page)).toEqual([]);
});
