import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { FoundById } from "../calls/found-by-id.tsx";
import { useNow } from "../design/clock.tsx";
import { useKeys } from "../design/keys.ts";
import { BatchDetail } from "./batches/batch-detail.tsx";
import { batchRows, entriesOf, isBatchId } from "./batches/entries.ts";
import { useLostDecisions } from "./decisions.ts";
import { Detail } from "./detail.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { QueueList } from "./list.tsx";
import { inboxViews, neighbour, ordered, type InboxSearch } from "./queue.ts";
import { LatestDecision, Missed, Refusals } from "./refusals.tsx";
import { usePutOff } from "./snooze/put-off.ts";
import { reloadInbox, useInbox } from "./store.ts";
import "./inbox.css";

/** From this width on the list and the question stand next to each other, and the first question is open. */
const WIDE = "(min-width: 56rem)";
/** The order of the list changes with time, at most so often; ms. */
const ORDER_MS = 60_000;
/** `aria-current` is given: the link of another view is never current. */
const EXACT = { exact: true } as const;

/** The open approvals, and one of them. */
export function InboxScreen(): ReactNode {
  const { t } = useLingui();
  const inbox = useInbox();
  useLostDecisions(t`your session had ended before the server took it.`);
  const search: InboxSearch = useSearch({ from: "/inbox" });
  const { view, ...filters } = search;
  const selected = useParams({ strict: false, select: ({ approvalId }) => approvalId ?? null });
  const navigate = useNavigate();
  const orderedAt = Math.floor(useNow() / ORDER_MS) * ORDER_MS;
  const { template, tool, agent, requester, find } = filters;
  const putOff = usePutOff(inbox.snoozes);
  const views = useMemo(() => inboxViews(inbox.rows, putOff), [inbox.rows, putOff]);
  const viewed = view === "snoozed" ? views.snoozed : views.open;
  const rows = useMemo(
    () => ordered(viewed.values(), { template, tool, agent, requester, find }, orderedAt),
    [viewed, template, tool, agent, requester, find, orderedAt],
  );
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (id: string) =>
      setOpened((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set(before).add(id))),
    [],
  );
  const entries = useMemo(() => entriesOf(rows, opened), [rows, opened]);
  const select = (id: string | null, isReplaced = false): void =>
    void (id === null
      ? navigate({ to: "/inbox", search, replace: isReplaced })
      : navigate({ to: "/inbox/$approvalId", params: { approvalId: id }, search, replace: isReplaced }));
  const latest = useRef(select);
  latest.current = select;
  const open = useCallback((id: string) => latest.current(id), []);
  const openMember = (id: string): void => {
    if (selected !== null && !opened.has(selected)) toggle(selected);
    select(id);
  };
  const first = entries[0]?.id;
  useEffect(() => {
    if (selected === null && first !== undefined && matchMedia(WIDE).matches) select(first, true);
  }, [selected, first]);
  const move = (step: 1 | -1): void => {
    const next = selected === null ? entries[0] : neighbour(entries, selected, step);
    if (next !== undefined) select(next.id, true);
  };
  // The next question opens while the decision is under way; on a narrow screen the list does, afterwards.
  const sent = (id: string): void => {
    const next = neighbour(entries, id, 1) ?? neighbour(entries, id, -1);
    if (next !== undefined && matchMedia(WIDE).matches) select(next.id, true);
  };
  const current = useRef(selected);
  current.current = selected;
  const decided = (id: string): void => {
    if (current.current !== id) return;
    const next = neighbour(entries, id, 1) ?? neighbour(entries, id, -1);
    select(next !== undefined && matchMedia(WIDE).matches ? next.id : null, true);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => (selected !== null && isBatchId(selected) ? toggle(selected) : null),
    "g s": () => void navigate({ to: "/inbox", search: { view: "snoozed" } }),
  });
  return (
    <main className={`inbox ${selected === null ? "list-only" : "has-detail"}`}>
      <section className="list-pane" aria-label={t`Inbox`}>
        <header className="list-head">
          <h1 className="visually-hidden">
            <Trans>Inbox</Trans>
          </h1>
          <nav className="row" aria-label={t`Inbox views`}>
            <ViewLink search={filters} isCurrent={view === undefined} count={inbox.total === null ? null : views.open.size}>
              <Trans>Open</Trans>
            </ViewLink>
            <ViewLink
              search={{ ...filters, view: "snoozed" }}
              isCurrent={view === "snoozed"}
              count={views.snoozed.size === 0 ? null : views.snoozed.size}
            >
              <Trans>Snoozed</Trans>
            </ViewLink>
            <Link to="/history" search={{ template, tool, agent, requester }} className="view">
              <Trans>History</Trans>
            </Link>
            {inbox.loading === "loading" && inbox.rows.size > 0 ? (
              <span className="small quiet" role="status">
                <Trans>
                  reading {inbox.rows.size} of {inbox.total ?? 0}
                </Trans>
              </span>
            ) : rows.length < viewed.size ? (
              <span className="small quiet" role="status">
                <Plural value={rows.length} one="# shown" other="# shown" />
              </span>
            ) : null}
          </nav>
          <FilterBar
            rows={viewed}
            filters={filters}
            change={(next) => void navigate({ to: ".", search: { ...search, ...next }, replace: true })}
          />
        </header>
        {find === undefined ? null : <FoundById text={find} shown={viewed} />}
        <Refusals rows={inbox.rows} closed={inbox.closed} selected={selected} filters={filters} />
        <Missed missed={inbox.missed} />
        {inbox.problem === null ? null : (
          <p role="alert" className="alert">
            {inbox.problem}{" "}
            <button type="button" onClick={reloadInbox}>
              <Trans>Read again</Trans>
            </button>
          </p>
        )}
        {rows.length > 0 ? (
          <QueueList entries={entries} snoozes={inbox.snoozes} selected={selected} select={open} toggle={toggle} />
        ) : (
          <NoRows
            isLoading={inbox.total === null}
            isFiltered={viewed.size > 0}
            isSnoozed={view === "snoozed"}
            clear={() => void navigate({ to: ".", search: view === undefined ? {} : { view } })}
          />
        )}
      </section>
      <section className="detail-pane" aria-label={t`Question`}>
        {selected === null ? null : (
          <>
            <button type="button" className="plain back" onClick={() => select(null)}>
              ← <Trans>Inbox</Trans>
            </button>
            {isBatchId(selected) ? (
              <BatchDetail key={selected} rows={batchRows(entries, selected)} select={openMember} />
            ) : (
              <Detail id={selected} sent={sent} decided={decided} />
            )}
          </>
        )}
      </section>
    </main>
  );
}

function ViewLink({
  search,
  isCurrent,
  count,
  children,
}: {
  readonly search: InboxSearch;
  readonly isCurrent: boolean;
  readonly count: number | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Link
      to="/inbox"
      search={search}
      activeOptions={EXACT}
      className="view"
      {...(isCurrent ? { "aria-current": "page" as const } : {})}
    >
      {children} <span className="count">{count ?? ""}</span>
    </Link>
  );
}

function NoRows({
  isLoading,
  isFiltered,
  isSnoozed,
  clear,
}: {
  readonly isLoading: boolean;
  readonly isFiltered: boolean;
  readonly isSnoozed: boolean;
  readonly clear: () => void;
}): ReactNode {
  const { t } = useLingui();
  if (isLoading)
    return (
      <div className="queue loading" role="status" aria-label={t`Loading`}>
        {[0, 1, 2, 3, 4].map((index) => (
          <div key={index} className="queue-blank">
            <div className="skeleton" />
            <div className="skeleton short" />
          </div>
        ))}
      </div>
    );
  return (
    <div className="empty">
      {isFiltered ? (
        <>
          <h2>
            <Trans>No open approval passes the filters.</Trans>
          </h2>
          <button type="button" onClick={clear}>
            <Trans>Show all</Trans>
          </button>
        </>
      ) : isSnoozed ? (
        <h2>
          <Trans>You have put nothing off.</Trans>
        </h2>
      ) : (
        <>
          <h2>
            <Trans>Nothing waits for a decision.</Trans>
          </h2>
          <p>
            <Trans>New questions appear here by themselves.</Trans>
          </p>
          <LatestDecision />
        </>
      )}
    </div>
  );
}
