import { PrismaPg } from "@prisma/adapter-pg";
import { expect, it } from "vitest";
import { PrismaClient } from "../../src/db/generated/client.ts";
import { maskError } from "../../src/server/errors.ts";

it("invariant 11: of a request that Prisma cannot read, the log says what is wrong and where, and no text of a client", async () => {
  const logged: unknown[] = [];
  const mask = maskError({ tell: () => {}, warn: () => {}, error: (_message, cause) => void logged.push(cause) });
  // It is never connected: the request is refused before.
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: "postgresql://127.0.0.1:1/none" }) });
  const cause: unknown = await prisma.message
    .findMany({ where: { tenant: "a client's text", ordinal: { gt: 1e300 } } })
    .catch((error: unknown) => error);
  expect(String(cause)).toContain("a client's text");
  expect(mask(cause)).toMatchObject({ message: "Unexpected error.", extensions: { code: "INTERNAL_SERVER_ERROR" } });
  const [problem] = logged;
  const stack = problem instanceof Error ? (problem.stack ?? "") : "";
  expect(stack).not.toContain("a client's text");
  expect(stack).toMatch(/^PrismaClientValidationError: Unable to fit value .*\n {4}at /);
});
