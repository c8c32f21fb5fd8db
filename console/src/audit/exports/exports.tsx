import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { AuditSearch } from "../filters.ts";
import { ExportTable } from "./export-table.tsx";
import { NewExport } from "./new-export.tsx";
import { useExports } from "./use-exports.ts";

/** Files of the audit: a new one with the filters of the address, and those that there are. */
export function Exports({ search, set }: { readonly search: AuditSearch; readonly set: (part: AuditSearch) => void }): ReactNode {
  const { t } = useLingui();
  const list = useExports();
  const running = list.rows.filter(({ state }) => state === "RUNNING").length;
  return (
    <div className="look-body" tabIndex={0} role="group" aria-label={t`Exports`}>
      <NewExport search={search} set={set} made={list.again} />
      <section>
        <h2>
          <Trans>Files</Trans>
        </h2>
        <p className="quiet small" role="status">
          {running === 0 ? <Trans>No file is being made.</Trans> : <Trans>Files being made: {running}</Trans>}
        </p>
        <ExportTable list={list} />
      </section>
    </div>
  );
}
