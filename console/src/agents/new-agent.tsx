import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState, type ReactNode } from "react";
import { Dialog } from "../design/dialog.tsx";
import { CreateAgentDocument, SendMessageDocument, type TemplatesQuery } from "../generated/documents.ts";
import { change, refusalText } from "../session/ask.ts";

/** A new agent with its first message. */
export function NewAgent({
  isOpen,
  close,
  templates,
}: {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly templates: TemplatesQuery["templates"];
}): ReactNode {
  const { t } = useLingui();
  return (
    <Dialog title={t`New agent`} isOpen={isOpen} close={close}>
      <NewAgentForm close={close} templates={templates.filter(({ isConfigured }) => isConfigured)} />
    </Dialog>
  );
}

function NewAgentForm({
  close,
  templates,
}: {
  readonly close: () => void;
  readonly templates: TemplatesQuery["templates"];
}): ReactNode {
  const navigate = useNavigate();
  const id = useId();
  const [templateId, setTemplate] = useState(templates[0]?.templateId ?? "");
  const [title, setTitle] = useState("");
  const [workspace, setWorkspace] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // A repeated press after a lost answer makes no second agent.
  const [key] = useState(() => crypto.randomUUID());
  const begin = async (): Promise<string | null> => {
    const { createAgent } = await change(CreateAgentDocument, {
      input: {
        templateId,
        idempotencyKey: key,
        ...(title.trim() === "" ? {} : { title }),
        ...(workspace.trim() === "" ? {} : { workspace }),
      },
    });
    const refusal = refusalText(createAgent.userErrors);
    if (refusal !== null || createAgent.agent === null) return refusal;
    const agentId = createAgent.agent.id;
    if (text.trim() !== "") {
      const { sendMessage } = await change(SendMessageDocument, { input: { agentId, text, idempotencyKey: key } });
      const refused = refusalText(sendMessage.userErrors);
      if (refused !== null) return refused;
    }
    close();
    await navigate({ to: "/agents/$agentId", params: { agentId } });
    return null;
  };
  const send = (): void => {
    setBusy(true);
    void begin()
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      .then((found) => {
        setProblem(found);
        setBusy(false);
      });
  };
  const about = templates.find((template) => template.templateId === templateId)?.description ?? null;
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="field">
        <label htmlFor={`${id}-template`}>
          <Trans>Template</Trans>
        </label>
        <select id={`${id}-template`} value={templateId} onChange={({ target }) => setTemplate(target.value)}>
          {templates.map((template) => (
            <option key={template.id} value={template.templateId}>
              {template.templateId}
            </option>
          ))}
        </select>
        {about === null ? null : <small className="quiet">{about}</small>}
      </div>
      <div className="field">
        <label htmlFor={`${id}-title`}>
          <Trans>Title (may be empty)</Trans>
        </label>
        <input id={`${id}-title`} value={title} onChange={({ target }) => setTitle(target.value)} />
      </div>
      <div className="field">
        <label htmlFor={`${id}-workspace`}>
          <Trans>Folder (empty for the default)</Trans>
        </label>
        <input
          id={`${id}-workspace`}
          spellCheck={false}
          value={workspace}
          onChange={({ target }) => setWorkspace(target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-text`}>
          <Trans>First message</Trans>
        </label>
        <textarea id={`${id}-text`} rows={4} value={text} onChange={({ target }) => setText(target.value)} />
      </div>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={isBusy || templateId === ""}>
          <Trans>Start</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="plain" onClick={close}>
          <Trans>Cancel</Trans>
        </button>
      </div>
    </form>
  );
}
