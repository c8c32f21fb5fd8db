import { expect } from "vitest";
import { NEIGHBOURS } from "../support/actors.ts";
import { screenshot } from "../support/browser.ts";
import { axeViolations, consolePage } from "../support/console-page.ts";
import { ConsoleBrowser } from "../support/console-browser.ts";
import { withChromium } from "../support/example-app.ts";

withChromium(
  "console: a person signs in by token, comes to the wanted page, and signs out, by keyboard alone",
  { timeout: 60_000 },
  async () => {
    const { page, open, foreign } = await consolePage({ config: NEIGHBOURS });
    await open("/console/agents?title=a");
    const field = page.getByLabel("Access token");
    await field.waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/sign-in");
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, "console-sign-in");

    await page.keyboard.type("wrong-token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("the token is not accepted").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("anna-token");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    expect(page.url()).toMatch(/\/console\/agents\?title=a$/);
    await page.getByText("live").waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await page.getByRole("button", { name: "Sign out" }).focus();
    await page.keyboard.press("Enter");
    await field.waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await open("/console/sign-in?returnTo=https://example.org/");
    await field.waitFor();
    await page.keyboard.type("ben-token");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing waits for a decision.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/inbox");
    expect(foreign).toEqual([]);
  },
);

withChromium(
  "console: a session that another browser ends shows the form, and goes on after it",
  { timeout: 60_000 },
  async () => {
    const { app, page, open } = await consolePage({ config: NEIGHBOURS });
    await open("/console/history");
    await page.getByLabel("Access token").fill("paul-token");
    await page.keyboard.press("Enter");
    await page.getByText("No decision yet.").waitFor();
    await page.getByText("live").waitFor();

    const [cookie] = await page.context().cookies();
    const other = new ConsoleBrowser(app);
    other.cookie = `${cookie?.name}=${cookie?.value}`;
    await other.signOut();
    await page.getByText("Your session has ended.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("Access token").fill("paul-token");
    await page.keyboard.press("Enter");
    await page.getByText("No decision yet.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/history");
  },
);

withChromium(
  "console: the cookie of a company signs in without a step, as long as the company knows it",
  { timeout: 60_000 },
  async () => {
    const employees = new Set(["anna"]);
    const authenticate = ({ headers }: { readonly headers: { get(name: string): string | null } }) => {
      const [, name = ""] = /company=(\w+)/.exec(headers.get("cookie") ?? "") ?? [];
      return employees.has(name) ? ({ id: name, tenant: "acme", roles: ["admin"] } as const) : null;
    };
    const { app, page, complaints, foreign, open } = await consolePage({ config: { authenticate } });
    const url = new URL(app.url).origin;
    const company = (value: string) => page.context().addCookies([{ name: "company", value, url, sameSite: "Lax" }]);
    await open("/console/agents?title=a");
    await page.getByText("The server does not know you.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await screenshot(page, "console-unknown");

    await company("anna");
    await open("/console/agents?title=a");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.getByText("live").waitFor();
    expect(page.url()).toMatch(/\/console\/agents\?title=a$/);
    expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual(["company"]);

    employees.delete("anna");
    await page.getByText("The server does not know you.").waitFor();
    employees.add("vera");
    await company("vera");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
    expect(foreign).toEqual([]);
  },
);
