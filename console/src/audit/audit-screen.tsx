import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { lazyPart } from "../design/lazy-part.tsx";
import { CallTable } from "./call-table.tsx";
import { DecisionTable } from "./decision-table.tsx";
import { AuditFilterBar } from "./filter-bar.tsx";
import { AUDIT_VIEWS, searchOfView, type AuditSearch, type AuditView } from "./filters.ts";
import { StepTable } from "./step-table.tsx";
import "../design/screen.css";

/** The charts bring a library, which the tables do not need. */
const Charts = lazyPart(async () => (await import("./charts/charts.tsx")).Charts);
const Exports = lazyPart(async () => (await import("./exports/exports.tsx")).Exports);

/** The link of a view is current also with filters, and that of another one never: `aria-current` is given. */
const EXACT = { exact: true } as const;

/** Tool calls, decisions and steps, the newest first, their charts, and exports. The filters stand in the address. */
export function AuditScreen(): ReactNode {
  const { t } = useLingui();
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const view = AUDIT_VIEWS.find((each) => each === search.view) ?? "calls";
  const set = (part: AuditSearch): void => {
    // A change may come before the page has drawn the one before it.
    void navigate({
      search: (before) => Object.fromEntries(Object.entries({ ...before, ...part }).filter(([, value]) => value !== "")),
      replace: true,
    });
  };
  return (
    <main className="look">
      <header className="look-head">
        <h1 className="visually-hidden">
          <Trans>Audit</Trans>
        </h1>
        <nav className="row" aria-label={t`Audit views`}>
          <ViewLink view="calls" current={view} search={search} name={t`Calls`} />
          <ViewLink view="decisions" current={view} search={search} name={t`Decisions`} />
          <ViewLink view="steps" current={view} search={search} name={t`Steps`} />
          <ViewLink view="charts" current={view} search={search} name={t`Charts`} />
          <ViewLink view="exports" current={view} search={search} name={t`Exports`} />
        </nav>
        {view === "exports" ? null : <AuditFilterBar search={search} view={view} set={set} />}
      </header>
      {view === "calls" ? <CallTable search={search} open={(call) => set({ call })} /> : null}
      {view === "decisions" ? <DecisionTable search={search} /> : null}
      {view === "steps" ? <StepTable search={search} open={(step) => set({ step })} /> : null}
      {view === "charts" ? <Charts search={search} set={set} /> : null}
      {view === "exports" ? <Exports search={search} set={set} /> : null}
    </main>
  );
}

function ViewLink({
  view,
  current,
  search,
  name,
}: {
  readonly view: AuditView;
  readonly current: AuditView;
  readonly search: AuditSearch;
  readonly name: string;
}): ReactNode {
  return (
    <Link
      to="/audit"
      search={searchOfView(view, current, search)}
      activeOptions={EXACT}
      className="look-view"
      {...(view === current ? { "aria-current": "page" } : {})}
    >
      {name}
    </Link>
  );
}
