import type { Page } from "playwright-core";
import { expect } from "vitest";
import { CreateScheduleDocument } from "../generated/documents.ts";
import { connect } from "../support/client.ts";
import { consolePage, signInByKeyboard, untilSeen } from "../support/console-page.ts";
import { withChromium } from "../support/example-app.ts";
import { exported } from "../support/exports.ts";
import { ACTORS, ask, inbox, SCRIPT } from "../support/office.ts";

/** The controls of the main part that can be used, by their roles and names. */
async function controlsOf(page: Page): Promise<readonly string[]> {
  const found = page.getByRole("main").locator("button:enabled, textarea:enabled, input:enabled, [role=button]");
  return found.evaluateAll((elements) =>
    elements.map((element) =>
      `${element.tagName.toLowerCase()} ${element.getAttribute("aria-label") ?? element.textContent ?? ""}`.trim(),
    ),
  );
}

/**
 * Controls that read: fields of filters and questions, parts of lists, files of rows that the viewer may read; and those of the
 * viewer's own tokens and sessions.
 */
const READING =
  /^(?:input\b.*|textarea \{[^]*|button (?:← Inbox|[0-9a-f]{8}|Agents below it|The model's request|Shorter times|CSV of the shown rows|fs_write|\d+\.\d+|Read again|Make the file|Simulate on recorded calls|New token|End))$/;

withChromium("console: a viewer finds no control that acts, on any screen", { timeout: 120_000 }, async () => {
  const { app, page, complaints, open } = await consolePage({
    config: ACTORS,
    script: SCRIPT,
    template: { selfApproval: false },
  });
  const anna = connect(app.url, "anna-token");
  const ada = connect(app.url, "ada-token");
  const { agent, approvalId } = await ask(anna, "write a.txt");
  for (const name of ["b", "c", "d"]) await ask(anna, `write ${name}.txt`);
  await anna.get(CreateScheduleDocument, { input: { agentId: agent, text: "Look.", trigger: { everyMs: 3_600_000 } } });
  await exported(ada);
  await signInByKeyboard(page, app, "vera-token", "/console/inbox");
  const paths = [
    "inbox",
    `inbox/${approvalId}`,
    "inbox?view=snoozed",
    "history",
    "agents",
    `agents/${agent}`,
    `agents/${agent}?view=timeline`,
    "audit",
    "audit?view=decisions",
    "audit?view=steps",
    "audit?view=charts",
    "audit?view=exports",
    "policy",
    "policy?view=templates",
    "policy?view=explain",
    "policy?view=simulate",
    "operations",
    "account",
  ];
  for (const path of paths) {
    await open(`/console/${path}`);
    await page.getByRole("main").waitFor();
    await page.waitForLoadState("networkidle");
    const acting = (await controlsOf(page)).filter((control) => !READING.test(control));
    expect(acting, path).toEqual([]);
  }
  // No key acts either.
  const sent: string[] = [];
  page.on("request", (request) => {
    if ((request.postData() ?? "").includes('"query":"mutation')) sent.push(request.postData() ?? "");
  });
  await open(`/console/inbox/${approvalId}`);
  await page.getByText("Deciding needs the role approver or admin.").waitFor();
  await untilSeen(page);
  for (const key of ["Enter", "e", "d", "a", "s", "w", "Shift+A", "Shift+D"]) await page.keyboard.press(key);
  await open("/console/inbox");
  await page.getByRole("heading", { name: "4 alike:" }).waitFor();
  for (const key of ["Shift+A", "Shift+D", "Enter", "s"]) await page.keyboard.press(key);
  expect(await page.getByRole("textbox").count()).toBe(0);
  expect(await inbox(anna, { states: ["PENDING"] })).toHaveLength(4);
  expect(sent).toEqual([]);
  expect(complaints).toEqual([]);
});
