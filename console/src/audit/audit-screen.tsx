import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CallTable } from "./call-table.tsx";
import { DecisionTable } from "./decision-table.tsx";
import { AuditFilterBar } from "./filter-bar.tsx";
import type { AuditSearch } from "./filters.ts";
import "../design/screen.css";

/** The link of a view is current also with filters, and that of the other one never: `aria-current` is given. */
const EXACT = { exact: true } as const;

/** Tool calls and decisions, the newest first. The filters stand in the address. */
export function AuditScreen(): ReactNode {
  const { t } = useLingui();
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate();
  const isDecisions = search.view === "decisions";
  const set = (part: AuditSearch): void => {
    const next = Object.fromEntries(Object.entries({ ...search, ...part }).filter(([, value]) => value !== ""));
    void navigate({ to: "/audit", search: next, replace: true });
  };
  return (
    <main className="look">
      <header className="look-head">
        <h1 className="visually-hidden">
          <Trans>Audit</Trans>
        </h1>
        <nav className="row" aria-label={t`Audit views`}>
          <Link
            to="/audit"
            search={{}}
            activeOptions={EXACT}
            className="look-view"
            {...(isDecisions ? {} : { "aria-current": "page" })}
          >
            <Trans>Calls</Trans>
          </Link>
          <Link
            to="/audit"
            search={{ view: "decisions" }}
            activeOptions={EXACT}
            className="look-view"
            {...(isDecisions ? { "aria-current": "page" } : {})}
          >
            <Trans>Decisions</Trans>
          </Link>
        </nav>
        <AuditFilterBar search={search} isDecisions={isDecisions} set={set} />
      </header>
      {isDecisions ? <DecisionTable search={search} /> : <CallTable search={search} open={(call) => set({ call })} />}
    </main>
  );
}
