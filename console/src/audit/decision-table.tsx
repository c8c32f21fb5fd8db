import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import { csvOf, saveFile } from "../design/csv.ts";
import { GridTable, type Column } from "../design/grid-table.tsx";
import { usePages } from "../design/pages.ts";
import { AuditDecisionsDocument, type AuditDecisionsQuery } from "../generated/documents.ts";
import { ActionLink } from "../calls/asked-action.tsx";
import { ask } from "../session/ask.ts";
import { nameOf, namesOf } from "../session/viewer.tsx";
import { decisionFilter, type AuditSearch } from "./filters.ts";
import { useDecisionWords } from "./words.tsx";

type Row = AuditDecisionsQuery["approvals"]["nodes"][number];

/** Closed approvals, the latest end first. A row leads to the whole question. */
export function DecisionTable({ search }: { readonly search: AuditSearch }): ReactNode {
  const { t } = useLingui();
  const words = useDecisionWords();
  const filter = decisionFilter(search);
  const pages = usePages(
    JSON.stringify(filter),
    async (after) => (await ask(AuditDecisionsDocument, { filter, after })).approvals,
  );
  const columns: readonly Column<Row>[] = [
    { name: t`Closed`, width: "6.5rem", cell: ({ closedAt }) => (closedAt === null ? "–" : <Ago time={closedAt} />) },
    {
      name: t`Action`,
      width: "minmax(12rem, 3fr)",
      cell: (row) => <ActionLink row={row} />,
    },
    { name: t`Template`, width: "minmax(6rem, 1fr)", cell: ({ agent }) => agent.template.templateId },
    { name: t`For`, width: "minmax(5rem, 1fr)", cell: ({ requestedBy }) => namesOf(requestedBy) },
    {
      name: t`End`,
      width: "8rem",
      cell: ({ state, isEdited }) => (
        <>
          <span className={`badge ${state === "ALLOWED" || state === "RESOLVED" ? "good" : state === "DENIED" ? "bad" : ""}`}>
            {words[state]}
          </span>{" "}
          {isEdited ? <span className="badge">{t`edited`}</span> : null}
        </>
      ),
    },
    {
      name: t`By`,
      width: "minmax(5rem, 1fr)",
      cell: ({ decidedBy }) => (decidedBy === null ? "–" : nameOf(decidedBy)),
    },
    { name: t`Words`, width: "minmax(8rem, 2fr)", cell: ({ note }) => visible(note ?? "") },
  ];
  const save = (): void =>
    saveFile(
      "triplane-decisions.csv",
      csvOf(
        [
          "requestedAt",
          "closedAt",
          "approvalId",
          "kind",
          "tool",
          "input",
          "template",
          "requestedBy",
          "state",
          "decidedBy",
          "note",
        ],
        pages.rows.map((row) => [
          row.requestedAt,
          row.closedAt ?? "",
          row.id,
          row.kind,
          row.toolCall?.name ?? "",
          row.toolCall?.inputPreview ?? "",
          row.agent.template.templateId,
          namesOf(row.requestedBy),
          row.state,
          row.decidedBy === null ? "" : nameOf(row.decidedBy),
          row.note ?? "",
        ]),
      ),
    );
  const shown = pages.rows.length;
  return (
    <>
      <div className="audit-counts">
        <span className="quiet">
          {pages.total === null ? (
            <Trans>Counting</Trans>
          ) : (
            <Trans>
              {shown} of {pages.total} decisions shown
            </Trans>
          )}
        </span>
        <button type="button" disabled={shown === 0} onClick={save}>
          <Trans>CSV of the shown rows</Trans>
        </button>
      </div>
      <GridTable label={t`Decisions`} columns={columns} pages={pages} empty={t`No decision passes the filters.`} />
    </>
  );
}
