import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import { csvOf, saveFile } from "../design/csv.ts";
import { GridTable, type Column } from "../design/grid-table.tsx";
import { usePages } from "../design/pages.ts";
import { durationText } from "../design/time.ts";
import { AuditCallsDocument, type AuditCallsQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import { Verdict } from "../calls/verdict.tsx";
import { CallDetail } from "./call-detail.tsx";
import { Counts } from "./counts.tsx";
import { callFilter, type AuditSearch } from "./filters.ts";
import { CallState } from "../calls/call-state.tsx";

type Row = AuditCallsQuery["toolCalls"]["nodes"][number];

/** The tool calls that pass the filters. A row opens beside the list. */
export function CallTable({
  search,
  open,
}: {
  readonly search: AuditSearch;
  readonly open: (callId: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const { call: opened = null, ...others } = search;
  const filter = callFilter(others);
  const pages = usePages(JSON.stringify(filter), async (after) => (await ask(AuditCallsDocument, { filter, after })).toolCalls);
  const columns: readonly Column<Row>[] = [
    { name: t`Requested`, width: "6.5rem", cell: ({ createdAt }) => <Ago time={createdAt} /> },
    {
      name: t`Tool`,
      width: "minmax(8rem, 1fr)",
      cell: ({ name, callId }) => (
        <button type="button" className="plain link" onClick={() => open(callId)}>
          <code>{visible(name)}</code>
        </button>
      ),
    },
    {
      name: t`Input`,
      width: "minmax(12rem, 3fr)",
      cell: ({ inputPreview }) => <code className="quiet">{visible(inputPreview ?? "–")}</code>,
    },
    { name: t`Verdict`, width: "5rem", cell: ({ verdict }) => <Verdict verdict={verdict} /> },
    { name: t`State`, width: "6.5rem", cell: ({ state }) => <CallState state={state} /> },
    {
      name: t`Agent`,
      width: "minmax(8rem, 1.4fr)",
      cell: ({ agent }) => (
        <Link to="/agents/$agentId" params={{ agentId: agent.id }}>
          {agent.template.templateId}
          {agent.title === null ? "" : ` · ${visible(agent.title)}`}
        </Link>
      ),
    },
    { name: t`Of`, width: "6rem", cell: ({ agent }) => nameOf(agent.createdBy) },
    {
      name: t`Time`,
      width: "5rem",
      isAmount: true,
      cell: ({ durationMs }) => (durationMs === null ? "–" : durationText(durationMs)),
    },
  ];
  const save = (): void =>
    saveFile(
      "triplane-calls.csv",
      csvOf(
        ["createdAt", "callId", "tool", "input", "verdict", "state", "error", "template", "agent", "createdBy", "durationMs"],
        pages.rows.map(({ createdAt, callId, name, inputPreview, verdict, state, error, agent, durationMs }) => [
          createdAt,
          callId,
          name,
          inputPreview ?? "",
          verdict ?? "",
          state,
          error?.type ?? "",
          agent.template.templateId,
          agent.title ?? agent.id,
          nameOf(agent.createdBy),
          durationMs === null ? "" : String(durationMs),
        ]),
      ),
    );
  return (
    <>
      <Counts filter={filter} total={pages.total} shown={pages.rows.length} save={save} />
      <div className={`look-split${opened === null ? "" : " has-detail"}`}>
        <div className="look">
          <GridTable
            label={t`Calls`}
            columns={columns}
            pages={pages}
            empty={t`No call passes the filters.`}
            opened={rowOf(pages.rows, opened)}
          />
        </div>
        {opened === null ? null : (
          <aside className="look-detail" tabIndex={0} aria-label={t`The opened call`}>
            <div>
              <button type="button" onClick={() => open("")}>
                <Trans>Close</Trans>
              </button>
            </div>
            <CallDetail key={opened} callId={opened} />
          </aside>
        )}
      </div>
    </>
  );
}

function rowOf(rows: readonly Row[], callId: string | null): string | null {
  return rows.find((row) => row.callId === callId)?.id ?? null;
}
