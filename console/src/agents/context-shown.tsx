import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { LongText } from "../calls/long-text.tsx";
import { Dialog } from "../design/dialog.tsx";
import { More } from "../design/more.tsx";
import { usePages, type Page } from "../design/pages.ts";
import { readableJson } from "../design/visible-lines.ts";
import { ContextAtDocument, type ContextAtQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

type Context = NonNullable<NonNullable<ContextAtQuery["agent"]>["contextAt"]>;
type Message = Context["messages"]["nodes"][number];

/** The request of the step that the address names. It opens by itself, and closing it leaves the address. */
export function ContextOfAddress({ agentId, lastStep }: { readonly agentId: string; readonly lastStep: number }): ReactNode {
  const { t } = useLingui();
  const { step } = useSearch({ from: "/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  if (step === undefined) return null;
  const close = (): void => void navigate({ search: ({ view }) => (view === undefined ? {} : { view }), replace: true });
  return (
    <Dialog title={t`The model's request`} isOpen close={close}>
      {step > lastStep ? (
        <p className="empty">
          <Trans>The agent has no step {step}.</Trans>
        </p>
      ) : (
        <Steps agentId={agentId} first={step} last={lastStep} />
      )}
    </Dialog>
  );
}

/** Opens the request that the model was sent at a step, or at an earlier one. */
export function ContextShown({ agentId, step }: { readonly agentId: string; readonly step: number }): ReactNode {
  const { t } = useLingui();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="plain" onClick={() => setOpen(true)}>
        <Trans>The model's request</Trans>
      </button>
      {isOpen ? (
        <Dialog title={t`The model's request`} isOpen close={() => setOpen(false)}>
          <Steps agentId={agentId} first={step} last={step} />
        </Dialog>
      ) : null}
    </>
  );
}

function Steps({
  agentId,
  first,
  last,
}: {
  readonly agentId: string;
  /** The step that is shown first. */
  readonly first: number;
  readonly last: number;
}): ReactNode {
  const { t } = useLingui();
  const [step, setStep] = useState(first);
  return (
    <div className="context">
      <label className="row">
        <Trans>Step</Trans>
        <input
          type="number"
          min={1}
          max={last}
          value={step}
          aria-label={t`Step`}
          onChange={({ target }) => {
            const chosen = target.valueAsNumber;
            if (Number.isInteger(chosen) && chosen >= 1 && chosen <= last) setStep(chosen);
          }}
        />
        <span className="quiet">
          <Trans>of {last}</Trans>
        </span>
      </label>
      <Request key={step} agentId={agentId} step={step} />
    </div>
  );
}

const NO_MESSAGES: Page<Message> = { nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } };

function Request({ agentId, step }: { readonly agentId: string; readonly step: number }): ReactNode {
  const { t } = useLingui();
  const [context, setContext] = useState<Context | null>(null);
  const pages = usePages(String(step), async (after) => {
    const found = (await ask(ContextAtDocument, { id: agentId, step, after })).agent?.contextAt ?? null;
    setContext((known) => known ?? found);
    return found?.messages ?? NO_MESSAGES;
  });
  const tools = useMemo(() => toolNames(context?.tools), [context]);
  if (context === null)
    return pages.total === null || pages.problem !== null ? (
      <More pages={pages} />
    ) : (
      <p className="empty">
        <Trans>The request is not kept, or you may not see it.</Trans>
      </p>
    );
  const { model, isProved, missing, system, settings } = context;
  return (
    <>
      <p className="small">
        <code>{model}</code>{" "}
        <span className={`badge ${isProved ? "good" : "waits"}`}>
          {isProved ? t`proved by its hash` : t`not proved: ${missing.join(", ").toLowerCase() || "?"}`}
        </span>
      </p>
      {system === null ? null : (
        <details>
          <summary>
            <Trans>System prompt</Trans>
          </summary>
          <LongText text={system} label={t`System prompt`} />
        </details>
      )}
      <details>
        <summary>
          <Trans>Tools</Trans> <span className="quiet">{tools.length}</span>
        </summary>
        <p className="small">{tools.join(", ")}</p>
        <Json value={context.tools} label={t`Tools`} />
      </details>
      <details>
        <summary>
          <Trans>Settings</Trans>
        </summary>
        <Json value={settings} label={t`Settings`} />
      </details>
      <ol className="context-messages">
        {pages.rows.map(({ index, role, content }) => (
          <li key={index}>
            <span className="badge">{role}</span>
            <Json value={content} label={t`Message ${index}`} />
          </li>
        ))}
      </ol>
      <More pages={pages} />
    </>
  );
}

function Json({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const text = useMemo(() => readableJson(value), [value]);
  return <LongText text={text} label={label} />;
}

function toolNames(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) =>
    typeof tool === "object" && tool !== null && "name" in tool && typeof tool.name === "string" ? [tool.name] : [],
  );
}
