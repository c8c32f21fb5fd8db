import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { ServerWords } from "../design/server-words.tsx";
import { WhyDisabled } from "../design/why-disabled.tsx";
import { useEffect, useId, useState, type ReactNode } from "react";
import { Considered, Verdict } from "../calls/verdict.tsx";
import { ExplainDocument, type ExplainQuery, type ExplainQueryVariables } from "../generated/documents.ts";
import { agentOf, callOf } from "./whole-ids.ts";
import { ask } from "../session/ask.ts";

type Answer = ExplainQuery["explainPermission"];

/** The verdict of the present rules on a recorded or a possible call. Nothing runs. */
export function Explain({
  start,
}: {
  /** The id of a call that is explained at once; empty for none. */
  readonly start: string;
}): ReactNode {
  const { t } = useLingui();
  const [callId, setCallId] = useState(start);
  const [agentId, setAgentId] = useState("");
  const [tool, setTool] = useState("bash_run");
  const [input, setInput] = useState('{ "command": "ls" }');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const isEmpty = callId.trim() === "" && agentId.trim() === "";
  const send = async (): Promise<void> => {
    const asked: ExplainQueryVariables =
      callId.trim() === ""
        ? { agentId: await agentOf(agentId.trim()), tool: tool.trim(), input: JSON.parse(input) as unknown }
        : { callId: await callOf(callId.trim()) };
    setAnswer((await ask(ExplainDocument, asked)).explainPermission);
    setProblem(null);
  };
  const explain = (): void =>
    void send().catch((failure: unknown) => {
      setAnswer(null);
      setProblem(failure instanceof Error ? failure.message : String(failure));
    });
  useEffect(() => (start === "" ? undefined : explain()), []);
  return (
    <div className="look-body" tabIndex={0} role="group" aria-label={t`Explain a call`}>
      <form
        className="look-form narrow"
        onSubmit={(event) => {
          event.preventDefault();
          explain();
        }}
      >
        <Field id={`${id}-call`} label={t`Id of a recorded call, or its end`} value={callId} set={setCallId} />
        {callId.trim() === "" ? (
          <>
            <p className="quiet">
              <Trans>Or a possible call:</Trans>
            </p>
            <Field id={`${id}-agent`} label={t`Id of the agent, or its end`} value={agentId} set={setAgentId} />
            <Field id={`${id}-tool`} label={t`Tool`} value={tool} set={setTool} />
            <div className="field">
              <label htmlFor={`${id}-input`}>
                <Trans>Input as JSON</Trans>
              </label>
              <textarea
                id={`${id}-input`}
                className="code"
                rows={4}
                value={input}
                onChange={({ target }) => setInput(target.value)}
              />
            </div>
          </>
        ) : null}
        <div>
          <button type="submit" className="primary" disabled={isEmpty} aria-describedby={isEmpty ? `${id}-why` : undefined}>
            <Trans>Explain</Trans>
          </button>
          <WhyDisabled of={[{ id: `${id}-why`, words: isEmpty ? <Trans>Name a call or agent.</Trans> : null }]} />
        </div>
      </form>
      <div role="status">
        {problem === null ? null : <p className="alert">{problem}</p>}
        {answer?.problems.map(({ message }) => (
          <p key={message} className="alert">
            <ServerWords text={message} />
          </p>
        ))}
        {answer === null || answer.explanation === null ? null : (
          <>
            <p>
              <Verdict verdict={answer.explanation.verdict} /> <ServerWords text={answer.explanation.reason} />
            </p>
            <p className="quiet">
              <code>{visible(answer.explanation.rule)}</code> · <code>{answer.explanation.place}</code>
            </p>
            <Considered entries={answer.explanation.considered} />
            {answer.explanation.hooks.length === 0 ? null : (
              <p className="note">
                <Trans>Hooks are asked as well, and can tighten it: {answer.explanation.hooks.join(", ")}</Trans>
              </p>
            )}
          </>
        )}
      </div>
    </div>
  );
}

function Field({
  id,
  label,
  value,
  set,
}: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} value={value} onChange={({ target }) => set(target.value)} />
    </div>
  );
}
