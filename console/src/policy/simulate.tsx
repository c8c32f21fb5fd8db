import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useId, useState, type ReactNode } from "react";
import { useQuery } from "urql";
import { Verdict } from "../calls/verdict.tsx";
import { PermissionsDocument, SimulateDocument, type SimulateQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { parsedProposal, proposalOf } from "./proposal.ts";

type Answer = SimulateQuery["simulatePolicy"];
type Simulation = NonNullable<Answer["simulation"]>;

/** A proposed permission beside the present one, and the recorded calls that would differ. Nothing changes. */
export function Simulate({ start }: { readonly start: string | undefined }): ReactNode {
  const { t } = useLingui();
  const [{ data, error }] = useQuery({ query: PermissionsDocument });
  const [chosen, setChosen] = useState<string | null>(null);
  const readable = (data?.templates ?? []).flatMap(({ templateId, permission }) =>
    permission === null ? [] : [{ templateId, present: JSON.stringify(proposalOf(permission), null, 2) }],
  );
  const wanted = chosen ?? start;
  const template = readable.find(({ templateId }) => templateId === wanted) ?? readable[0];
  return (
    <div className="look-body" tabIndex={0} role="group" aria-label={t`Simulate a change`}>
      {error === undefined ? null : (
        <p role="alert" className="alert">
          {error.message}
        </p>
      )}
      {data !== undefined && template === undefined ? (
        <p className="quiet">
          <Trans>You may not read a permission.</Trans>
        </p>
      ) : null}
      {template === undefined ? null : (
        <>
          <div className="row">
            <select
              className="narrow"
              aria-label={t`Template`}
              value={template.templateId}
              onChange={({ target }) => setChosen(target.value)}
            >
              {readable.map(({ templateId }) => (
                <option key={templateId} value={templateId}>
                  {templateId}
                </option>
              ))}
            </select>
          </div>
          <Comparison key={template.templateId} {...template} />
        </>
      )}
    </div>
  );
}

function Comparison({ templateId, present }: { readonly templateId: string; readonly present: string }): ReactNode {
  const { t } = useLingui();
  const [text, setText] = useState(present);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [today, setToday] = useState<Simulation | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const run = async (): Promise<void> => {
    const permission = parsedProposal(text);
    setAnswer(null);
    setProblem(typeof permission === "string" ? permission : null);
    if (typeof permission === "string") return;
    setBusy(true);
    try {
      const filter = { templateIds: [templateId] };
      const now = parsedProposal(present);
      const [proposed, today] = await Promise.all([
        ask(SimulateDocument, { permission, filter, after: null }),
        ask(SimulateDocument, { permission: typeof now === "string" ? {} : now, filter, after: null }),
      ]);
      setAnswer(proposed.simulatePolicy);
      setToday(today.simulatePolicy.simulation);
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
    setBusy(false);
  };
  return (
    <>
      <div className="look-pair">
        <section>
          <h2>
            <Trans>Present</Trans>
          </h2>
          <pre className="look-text" tabIndex={0} role="group" aria-label={t`Present`}>
            {present}
          </pre>
        </section>
        <section className="field">
          <h2>
            <label htmlFor={id}>
              <Trans>Proposed</Trans>
            </label>
          </h2>
          <textarea
            id={id}
            className="code"
            spellCheck={false}
            rows={14}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </section>
      </div>
      <div className="row">
        <button type="button" className="primary" disabled={isBusy} onClick={() => void run()}>
          {isBusy ? <Trans>Simulating</Trans> : <Trans>Simulate on recorded calls</Trans>}
        </button>
      </div>
      <div role="status">
        {problem === null ? null : <p className="alert">{problem}</p>}
        {answer?.problems.map(({ field, message }) => (
          <p key={message} className="alert">
            {field === null ? "" : `${field.join(".")}: `}
            {message}
          </p>
        ))}
        {answer === null || answer.simulation === null ? null : <Differences proposed={answer.simulation} today={today} />}
      </div>
    </>
  );
}

/**
 * The calls that would differ from their record. Stored rules may have changed since: the present permission is simulated
 * as well, and its examples are left out.
 */
function Differences({ proposed, today }: { readonly proposed: Simulation; readonly today: Simulation | null }): ReactNode {
  const { t } = useLingui();
  const { examined, changed, pageInfo } = proposed;
  const changedToday = today?.changed ?? 0;
  const changes = bothOf(proposed, today);
  const known = new Set(today?.examples.map(({ toolCall, verdict }) => `${toolCall?.id} ${verdict}`));
  const examples = proposed.examples.filter(({ toolCall, verdict }) => !known.has(`${toolCall?.id} ${verdict}`));
  return (
    <section className="look-form">
      <h2>
        <Trans>
          {changed} of {examined} calls would differ from their record, {changedToday} with the present permission
        </Trans>
      </h2>
      {pageInfo.hasNextPage ? (
        <p className="note">
          <Trans>These are the oldest {examined} recorded calls; there are more.</Trans>
        </p>
      ) : null}
      {changes.length === 0 ? null : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t`Tool`}</th>
                <th scope="col">{t`Recorded`}</th>
                <th scope="col">{t`Then`}</th>
                <th scope="col" className="amount">{t`Calls, present`}</th>
                <th scope="col" className="amount">{t`Calls, proposed`}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ change: { tool, before, after }, present, proposed: calls }) => (
                <tr key={`${tool} ${before} ${after}`}>
                  <td>
                    <code>{tool}</code>
                  </td>
                  <td>
                    <Verdict verdict={before} />
                  </td>
                  <td>
                    <Verdict verdict={after} />
                  </td>
                  <td className="amount">{present}</td>
                  <td className="amount">{calls}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ul className="considered">
        {examples.map(({ before, verdict, rule, reason, toolCall }) =>
          toolCall === null ? null : (
            <li key={toolCall.id}>
              <Verdict verdict={before} /> → <Verdict verdict={verdict} />{" "}
              <Link to="/audit" search={{ call: toolCall.callId }}>
                <code>{visible(toolCall.name)}</code>
              </Link>{" "}
              <code className="quiet">{visible(toolCall.inputPreview ?? "")}</code>
              <div className="quiet small">
                {visible(rule)} · {visible(reason)}
              </div>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

type Change = Simulation["changes"][number];
type Both = { readonly change: Change; readonly present: number; readonly proposed: number };

/** The changes of both, with the number of calls of each. */
function bothOf(proposed: Simulation, today: Simulation | null): readonly Both[] {
  const isSame = (a: Change, b: Change): boolean => a.tool === b.tool && a.before === b.before && a.after === b.after;
  const present = today?.changes ?? [];
  const rows = proposed.changes.map((change) => ({
    change,
    present: present.find((each) => isSame(each, change))?.calls ?? 0,
    proposed: change.calls,
  }));
  const gone = present.filter((change) => !rows.some((row) => isSame(row.change, change)));
  return [...rows, ...gone.map((change) => ({ change, present: change.calls, proposed: 0 }))];
}
