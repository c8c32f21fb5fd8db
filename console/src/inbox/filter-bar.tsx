import { useLingui } from "@lingui/react/macro";
import { useMemo, type ReactNode } from "react";
import { SearchField } from "../design/search-field.tsx";
import { choicesOf, FILTERS, type Filters, type Row } from "./queue.ts";

/** The filters of the inbox. They stand in the address. */
export function FilterBar({
  rows,
  filters,
  change,
}: {
  readonly rows: ReadonlyMap<string, Row>;
  readonly filters: Filters;
  readonly change: (filters: Filters) => void;
}): ReactNode {
  const { t } = useLingui();
  const offered = useMemo(() => FILTERS.map((name) => ({ name, choices: choicesOf(rows.values(), name) })), [rows]);
  const words = { template: t`Template`, tool: t`Tool`, requester: t`For`, agent: t`Agent` };
  return (
    <div className="filters" role="group" aria-label={t`Filters`}>
      <SearchField
        label={t`Search: id, tool, words`}
        value={filters.find ?? ""}
        search={(find) => change({ ...filters, find: find === "" ? undefined : find })}
      />
      {offered.map(({ name, choices }) => {
        const value = filters[name] ?? "";
        return (
          <select
            key={name}
            aria-label={words[name]}
            value={value}
            className={value === "" ? "" : "active"}
            onChange={({ target }) => change({ ...filters, [name]: target.value === "" ? undefined : target.value })}
          >
            <option value="">{words[name]}</option>
            {value !== "" && !choices.some((choice) => choice.value === value) ? <option value={value}>{value}</option> : null}
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.label} ({choice.count})
              </option>
            ))}
          </select>
        );
      })}
    </div>
  );
}
