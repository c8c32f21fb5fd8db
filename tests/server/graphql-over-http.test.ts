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
