import { expect, it } from "vitest";
import { AllowAlwaysDocument, AllowRuleProposalDocument, RevokeAllowRuleDocument } from "../../generated/documents.ts";
import { askHosts, reachingOffice } from "../../support/hosts.ts";
import { ask, office } from "../../support/office.ts";

/** The rule of a call to write a.txt, with so many characters. */
function ruleOf(characters: number): string {
  return "fs_write(path:/a.txt)".replace("(", `(${" ".repeat(characters - "fs_write(path:/a.txt)".length)}`);
}

it("a stored rule has at most 1,000 characters: it is read and asked at every call of its template (invariant 13)", async () => {
  const { as } = await office();
  const { approvalId } = await ask(as("anna"));
  const allow = async (rule: string) => (await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways;
  const problem = { code: "TOO_LARGE", field: ["rule"], message: "a rule has at most 1000 characters" };
  expect((await allow(ruleOf(1_001))).userErrors).toEqual([problem]);
  const shown = await as("paul").get(AllowRuleProposalDocument, { approvalId, rule: ruleOf(1_001) });
  expect(shown.allowRuleProposal).toEqual({ proposal: null, problems: [problem] });
  expect((await allow(ruleOf(1_000))).userErrors).toEqual([]);

  const reaching = await reachingOffice();
  const { question } = await askHosts(reaching.as("anna"), "reach a.example:443");
  const input = { approvalId: question.approvalId, rule: `network(${" ".repeat(1_000)}host:a.example)` };
  expect((await reaching.as("paul").get(AllowAlwaysDocument, { input })).allowAlways.userErrors).toEqual([problem]);
});

it("at most 300 stored rules hold for a template, also if several are stored at the same time (invariant 13)", async () => {
  const { app, as } = await office();
  const { approvalId } = await ask(as("anna"));
  const allow = async (rule: string) => (await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways;
  const { allowRule } = await allow("fs_write");
  await app.database.sql.query(
    {
      name: "more_rules",
      text: `INSERT INTO allow_rule SELECT (json_populate_record(r, json_build_object('id', gen_random_uuid(), 'rule', 'fs_read(path:/' || n || ')'))).*
        FROM allow_rule r, generate_series(1, 298) n RETURNING id`,
    },
    [],
  );
  const made = await Promise.all([allow("fs_write(path:/a.txt)"), allow("fs_write(path:*.txt)")]);
  const stored = made.filter(({ userErrors }) => userErrors.length === 0);
  const problem = { code: "TOO_LARGE", field: null, message: expect.stringContaining("300 stored rules already apply") };
  expect(stored).toHaveLength(1);
  expect(made.flatMap(({ userErrors }) => userErrors)).toEqual([problem]);
  // One that holds already is answered as ever, and one that is revoked makes room.
  expect((await allow("fs_write")).allowRule?.id).toBe(allowRule?.id);
  await as("petra").get(RevokeAllowRuleDocument, { input: { allowRuleId: allowRule?.id ?? "" } });
  expect((await allow("fs_write(content:*)")).userErrors).toEqual([]);
});
