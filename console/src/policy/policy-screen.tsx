import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Explain } from "./explain.tsx";
import { RuleTable } from "./rule-table.tsx";
import { Simulate } from "./simulate.tsx";
import { TemplateList } from "./template-list.tsx";
import "../design/screen.css";

const VIEWS = ["rules", "templates", "explain", "simulate"] as const;
type View = (typeof VIEWS)[number];

/** The link of a view is current also with filters, and that of another one never: `aria-current` is given. */
const EXACT = { exact: true } as const;

/** Stored rules, the permissions of templates, and tries of both. */
export function PolicyScreen(): ReactNode {
  const { t } = useLingui();
  const search = useSearch({ from: "/policy" });
  const view = VIEWS.find((each) => each === search.view) ?? "rules";
  const words: Readonly<Record<View, string>> = {
    rules: t`Stored rules`,
    templates: t`Templates`,
    explain: t`Explain a call`,
    simulate: t`Simulate a change`,
  };
  return (
    <main className="look">
      <header className="look-head">
        <h1 className="visually-hidden">
          <Trans>Policy</Trans>
        </h1>
        <nav className="row" aria-label={t`Policy views`}>
          {VIEWS.map((each) => (
            <Link
              key={each}
              to="/policy"
              search={each === "rules" ? {} : { view: each }}
              activeOptions={EXACT}
              className="look-view"
              {...(each === view ? { "aria-current": "page" } : {})}
            >
              {words[each]}
            </Link>
          ))}
        </nav>
      </header>
      <Shown view={view} template={search.template} call={search.call ?? ""} />
    </main>
  );
}

function Shown({
  view,
  template,
  call,
}: {
  readonly view: View;
  readonly template: string | undefined;
  readonly call: string;
}): ReactNode {
  switch (view) {
    case "rules":
      return <RuleTable template={template} />;
    case "templates":
      return <TemplateList />;
    case "explain":
      return <Explain key={call} start={call} />;
    case "simulate":
      return <Simulate start={template} />;
  }
}
