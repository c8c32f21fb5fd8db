import { useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useMemo, type ReactNode } from "react";
import { GridTable, type Column } from "../design/grid-table.tsx";
import type { Pages } from "../design/pages.ts";
import { durationText } from "../design/time.ts";
import type { Lane, Span } from "./lanes.ts";
import { clockText, useTimelineWords } from "./words.ts";

type Row = Span & { readonly id: string };

/** The chosen lane in words: the newest first. */
export function SpanTable({
  lane,
  now,
  chosen,
}: {
  readonly lane: Lane;
  readonly now: number;
  readonly chosen: string | null;
}): ReactNode {
  const { t, i18n } = useLingui();
  const { kinds, stateOf } = useTimelineWords();
  const rows = useMemo(
    () => lane.spans.map((span) => ({ ...span, id: span.key })).toSorted((one, other) => other.from - one.from),
    [lane],
  );
  const columns: readonly Column<Row>[] = [
    { name: t`Begin`, width: "9rem", cell: ({ from }) => clockText(from, i18n.locale) },
    { name: t`Kind`, width: "6rem", cell: ({ kind }) => kinds[kind] },
    { name: t`Name`, width: "minmax(10rem, 1fr)", cell: ({ name }) => visible(name) },
    {
      name: t`State`,
      width: "7rem",
      cell: (span) => (span.kind === "message" ? "" : <span className={span.hasFailed ? "bad-word" : ""}>{stateOf(span)}</span>),
    },
    {
      name: t`Duration`,
      width: "8rem",
      isAmount: true,
      cell: ({ kind, from, to }) => (kind === "message" || kind === "error" ? "" : durationText((to ?? now) - from)),
    },
  ];
  return (
    <GridTable
      label={t`Steps, calls and waits of ${lane.templateId ?? ""}`}
      columns={columns}
      pages={known(rows)}
      empty={t`Nothing has happened yet.`}
      opened={chosen}
    />
  );
}

/** Rows that are all there. */
function known(rows: readonly Row[]): Pages<Row> {
  const nothing = (): void => undefined;
  return { rows, total: rows.length, hasMore: false, isReading: false, problem: null, more: nothing, again: nothing };
}
