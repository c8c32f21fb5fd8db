import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useState, type ReactNode } from "react";
import { Ago, Until } from "../design/clock.tsx";
import { Confirm } from "../design/confirm.tsx";
import { GridTable, type Column } from "../design/grid-table.tsx";
import { usePages } from "../design/pages.ts";
import { RevokeRuleDocument, RulesDocument, type RulesQuery } from "../generated/documents.ts";
import { ask, change, refusalText } from "../session/ask.ts";
import { nameOf, useMay } from "../session/viewer.tsx";

type Row = RulesQuery["allowRules"]["nodes"][number];

/** The rules that people have stored, with their use. */
export function RuleTable({ template }: { readonly template: string | undefined }): ReactNode {
  const { t } = useLingui();
  const may = useMay("STORE_ALLOW_RULES");
  const [isAll, setAll] = useState(false);
  const filter = { isActive: isAll ? null : true, templateIds: template === undefined ? null : [template] };
  const pages = usePages(JSON.stringify(filter), async (after) => (await ask(RulesDocument, { filter, after })).allowRules);
  const revoke = async (allowRuleId: string): Promise<string | null> => {
    const { revokeAllowRule } = await change(RevokeRuleDocument, { input: { allowRuleId } });
    pages.again();
    return refusalText(revokeAllowRule.userErrors);
  };
  const columns: readonly Column<Row>[] = [
    {
      name: t`Rule`,
      width: "minmax(14rem, 3fr)",
      cell: ({ rule, approvalId }) => (
        <Link to="/inbox/$approvalId" params={{ approvalId }} search={{}} title={visible(rule)}>
          <code>{visible(rule)}</code>
        </Link>
      ),
    },
    {
      name: t`Template`,
      width: "minmax(6rem, 1fr)",
      cell: ({ templateId, agentId }) => (
        <>
          {templateId}
          {agentId === null ? "" : ` · ${t`one agent`}`}
        </>
      ),
    },
    { name: t`By`, width: "minmax(5rem, 1fr)", cell: ({ createdBy }) => nameOf(createdBy) },
    { name: t`Stored`, width: "7rem", cell: ({ createdAt }) => <Ago time={createdAt} /> },
    {
      name: t`Last use`,
      width: "7rem",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t`never` : <Ago time={lastUsedAt} />),
    },
    {
      name: t`Uses`,
      width: "4rem",
      isAmount: true,
      cell: ({ useCount, place }) =>
        useCount === null ? (
          "–"
        ) : (
          <Link to="/audit" search={{ place }} title={t`The calls that it let run`}>
            {useCount}
          </Link>
        ),
    },
    {
      name: t`Expires`,
      width: "7rem",
      cell: ({ expiresAt }) => (expiresAt === null ? t`never` : <Until time={expiresAt} />),
    },
    { name: t`Words`, width: "minmax(6rem, 1.5fr)", cell: ({ note }) => visible(note ?? "") },
    {
      name: t`State`,
      width: "9rem",
      cell: ({ id, rule, isActive, revokedAt, revokedBy }) =>
        !isActive ? (
          <span className="badge">
            {revokedAt === null ? t`expired` : revokedBy === null ? t`revoked` : t`revoked by ${nameOf(revokedBy)}`}
          </span>
        ) : may.isAllowed ? (
          <Confirm label={t`Revoke`} title={t`Revoke this rule?`} act={() => revoke(id)}>
            <p>
              <code>{visible(rule)}</code>
            </p>
            <p>
              <Trans>Calls that match it ask again from then on.</Trans>
            </p>
          </Confirm>
        ) : (
          <span className="badge good">{t`active`}</span>
        ),
    },
  ];
  return (
    <>
      <div className="audit-counts">
        <span className="quiet">
          <Trans>Stored rules</Trans> {pages.total ?? ""}
        </span>
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={({ target }) => setAll(target.checked)} />{" "}
          <Trans>With revoked and expired ones</Trans>
        </label>
      </div>
      <GridTable label={t`Stored rules`} columns={columns} pages={pages} empty={t`No rule is stored.`} />
    </>
  );
}
