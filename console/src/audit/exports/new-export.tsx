import { Trans } from "@lingui/react/macro";
import { useId, useRef, useState, type ReactNode } from "react";
import { ServerWords } from "../../design/server-words.tsx";
import { WhyDisabled } from "../../design/why-disabled.tsx";
import { firstClick } from "../../design/clicks.ts";
import { CreateExportDocument, type ExportFormat } from "../../generated/documents.ts";
import { change, refusalText } from "../../session/ask.ts";
import { useMay } from "../../session/viewer.tsx";
import { AuditFilterBar } from "../filter-bar.tsx";
import { EXPORT_SUBJECTS, exportFilter, exportSubject, haveTexts, type AuditSearch } from "../filters.ts";
import { useSubjectWords } from "../words.tsx";
import "./exports.css";

const FORMATS = ["CSV", "NDJSON"] as const satisfies readonly ExportFormat[];

/** Asks for an export of the rows that pass the filters. */
export function NewExport({
  search,
  set,
  made,
}: {
  readonly search: AuditSearch;
  readonly set: (part: AuditSearch) => void;
  readonly made: () => void;
}): ReactNode {
  const words = useSubjectWords();
  const mayHaveTexts = useMay("EXPORT_TEXTS");
  const id = useId();
  const [format, setFormat] = useState<ExportFormat>("CSV");
  const [withTexts, setWithTexts] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  // A request whose answer was lost is repeated with its key, and makes one export.
  const lost = useRef({ body: "", key: "" });
  const what = exportSubject(search);
  const send = async (): Promise<void> => {
    const input = { what, format, withTexts: withTexts && haveTexts(what), filter: exportFilter(search) };
    const body = JSON.stringify(input);
    const idempotencyKey = lost.current.body === body ? lost.current.key : crypto.randomUUID();
    lost.current = { body, key: idempotencyKey };
    const { createExport } = await change(CreateExportDocument, { input: { ...input, idempotencyKey } });
    lost.current = { body: "", key: "" };
    setProblem(refusalText(createExport.userErrors));
    made();
  };
  return (
    <section className="export-choices">
      <h2>
        <Trans>New export</Trans>
      </h2>
      <p className="quiet">
        <Trans>A file of all rows that pass the filters and are final now. It is made on the server.</Trans>
      </p>
      <div className="row">
        <label>
          <Trans>Rows</Trans>{" "}
          <select value={what} onChange={({ target }) => set({ what: target.value })}>
            {EXPORT_SUBJECTS.map((subject) => (
              <option key={subject} value={subject}>
                {words[subject]}
              </option>
            ))}
          </select>
        </label>
        <label>
          <Trans>Format</Trans>{" "}
          <select value={format} onChange={({ target }) => setFormat(target.value === "NDJSON" ? "NDJSON" : "CSV")}>
            {FORMATS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {!haveTexts(what) ? null : (
          <label className="check">
            <input
              type="checkbox"
              checked={withTexts}
              disabled={!mayHaveTexts.isAllowed}
              aria-describedby={mayHaveTexts.isAllowed ? undefined : id}
              onChange={({ target }) => setWithTexts(target.checked)}
            />
            <Trans>With texts: inputs, results, messages, notes, payloads</Trans>
          </label>
        )}
      </div>
      {!haveTexts(what) ? null : (
        <WhyDisabled of={[{ id, words: mayHaveTexts.isAllowed ? null : <ServerWords text={mayHaveTexts.reason ?? ""} /> }]} />
      )}
      <AuditFilterBar search={search} view="exports" set={set} />
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      <div>
        <button
          type="button"
          className="primary"
          disabled={isBusy}
          onClick={firstClick(() => {
            setBusy(true);
            void send()
              .catch((failure: unknown) => setProblem(failure instanceof Error ? failure.message : String(failure)))
              .finally(() => setBusy(false));
          })}
        >
          <Trans>Make the file</Trans>
        </button>
      </div>
    </section>
  );
}
