import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { shortCount } from "../design/amounts.ts";
import { Ago } from "../design/clock.tsx";
import { csvOf, saveFile } from "../design/csv.ts";
import { GridTable, type Column } from "../design/grid-table.tsx";
import { usePages } from "../design/pages.ts";
import { durationText } from "../design/time.ts";
import { AuditStepsDocument } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import { stepFilter, stepOrder, type AuditSearch } from "./filters.ts";
import { Cost, StepDetail, type StepRow } from "./step-detail.tsx";
import { StepBadge } from "./words.tsx";

/** The model calls that pass the filters. A row opens beside the list. */
export function StepTable({ search, open }: { readonly search: AuditSearch; readonly open: (id: string) => void }): ReactNode {
  const { t, i18n } = useLingui();
  const { step: opened = null } = search;
  const filter = stepFilter(search);
  const orderBy = { field: stepOrder(search), direction: "DESC" } as const;
  const pages = usePages(JSON.stringify([filter, orderBy]), async (after) => {
    const { nodes, ...page } = (await ask(AuditStepsDocument, { filter, orderBy, after })).steps;
    return { ...page, nodes: nodes.map((node): StepRow => Object.assign({ id: `${node.agentId}:${node.step}` }, node)) };
  });
  const count = (tokens: number | null): string => (tokens === null ? "–" : shortCount(tokens, i18n.locale));
  const columns: readonly Column<StepRow>[] = [
    { name: t`Started`, width: "6.5rem", cell: ({ startedAt }) => <Ago time={startedAt} /> },
    {
      name: t`Step`,
      width: "6rem",
      cell: ({ id, turn, step }) => (
        <button type="button" className="plain link" onClick={() => open(id)}>
          {turn}.{step}
        </button>
      ),
    },
    { name: t`Model`, width: "minmax(8rem, 1.4fr)", cell: ({ model }) => <code>{model}</code> },
    { name: t`State`, width: "6.5rem", cell: ({ state }) => <StepBadge state={state} /> },
    { name: t`Stop`, width: "6.5rem", cell: ({ stopReason }) => (stopReason ?? "–").replaceAll("_", " ") },
    {
      name: t`Agent`,
      width: "minmax(8rem, 1.4fr)",
      cell: ({ agentId, templateId }) => (
        <Link to="/agents/$agentId" params={{ agentId }}>
          {templateId}
        </Link>
      ),
    },
    { name: t`For`, width: "6rem", cell: ({ requestedBy }) => nameOf(requestedBy) },
    { name: t`In`, width: "4.5rem", isAmount: true, cell: ({ inputTokens }) => count(inputTokens) },
    { name: t`Cached`, width: "4.5rem", isAmount: true, cell: ({ cacheReadTokens }) => count(cacheReadTokens) },
    { name: t`Out`, width: "4.5rem", isAmount: true, cell: ({ outputTokens }) => count(outputTokens) },
    { name: t`Cost`, width: "6rem", isAmount: true, cell: (row) => <Cost step={row} /> },
    {
      name: t`Time`,
      width: "5rem",
      isAmount: true,
      cell: ({ durationMs }) => (durationMs === null ? "–" : durationText(durationMs)),
    },
  ];
  const shown = pages.rows.length;
  return (
    <>
      <div className="audit-counts">
        <span className="quiet">
          {pages.total === null ? (
            <Trans>Counting</Trans>
          ) : (
            <Trans>
              {shown} of {pages.total} steps shown
            </Trans>
          )}
        </span>
        <button
          type="button"
          disabled={shown === 0}
          onClick={() => saveFile("triplane-steps.csv", csvOf(HEAD, pages.rows.map(cellsOf)))}
        >
          <Trans>CSV of the shown rows</Trans>
        </button>
      </div>
      <div className={`look-split${opened === null ? "" : " has-detail"}`}>
        <div className="look">
          <GridTable label={t`Steps`} columns={columns} pages={pages} empty={t`No step passes the filters.`} opened={opened} />
        </div>
        {opened === null ? null : (
          <aside className="look-detail" tabIndex={0} aria-label={t`The opened step`}>
            <div>
              <button type="button" onClick={() => open("")}>
                <Trans>Close</Trans>
              </button>
            </div>
            <StepDetail step={pages.rows.find(({ id }) => id === opened) ?? null} isReading={pages.isReading} />
          </aside>
        )}
      </div>
    </>
  );
}

const HEAD = [
  "startedAt",
  "completedAt",
  "agent",
  "rootAgent",
  "template",
  "turn",
  "step",
  "model",
  "state",
  "stopReason",
  "requestedBy",
  "inputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "outputTokens",
  "outputIsEstimated",
  "costUsd",
  "isUnpriced",
  "durationMs",
  "firstTokenMs",
];

function cellsOf(row: StepRow): readonly string[] {
  const text = (value: string | number | boolean | null): string => (value === null ? "" : String(value));
  return [
    row.startedAt,
    text(row.completedAt),
    row.agentId,
    row.rootAgentId,
    row.templateId,
    text(row.turn),
    text(row.step),
    row.model,
    row.state,
    text(row.stopReason),
    nameOf(row.requestedBy),
    text(row.inputTokens),
    text(row.cacheReadTokens),
    text(row.cacheWriteTokens),
    text(row.outputTokens),
    text(row.outputIsEstimated),
    text(row.costUsd),
    text(row.isUnpriced),
    text(row.durationMs),
    text(row.firstTokenMs),
  ];
}
