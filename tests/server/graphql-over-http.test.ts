import { serverAudits } from "graphql-http";
import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";

it("GraphQL over HTTP: each of the 61 audits of graphql-http is ok", async () => {
  const { url } = await startTestApp();
  const audits = serverAudits({ url, fetchFn: fetch });
  expect(audits).toHaveLength(61);
  const failed = await Promise.all(
    audits.map(async (audit) => {
      const result = await audit.fn();
      return result.status === "ok" ? [] : [`${audit.name}: ${result.reason}`];
    }),
  );
  expect(failed.flat()).toEqual([]);
});

it.each(["variables", "extensions"])("a GET whose `%s` is no JSON is refused as a request that is no operation", async (name) => {
  const { url } = await startTestApp();
  const get = async (text: string) =>
    fetch(`${url}?query=${encodeURIComponent("{ __typename }")}&${name}=${encodeURIComponent(text)}`);
  const refused = await get("{broken");
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    errors: [{ message: `the URL parameter \`${name}\` is not valid JSON`, extensions: { code: "BAD_REQUEST" } }],
  });
  for (const text of ["", "{}"]) expect((await get(text)).status).toBe(200);
});
