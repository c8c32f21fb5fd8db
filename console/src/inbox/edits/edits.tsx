import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import { LongText } from "../../calls/long-text.tsx";
import { RequestedInputDocument } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";
import type { Asked } from "../asked.ts";
import { editedParts } from "./edited-parts.ts";

/** Longer values stand in lines of their own. */
const SHORT = 120;

/** The changes that another person made in the model's input. */
export function Edits({ asked }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const requested = useRequested(asked);
  if (requested === null) return null;
  const parts = editedParts(requested.input, asked.input);
  return (
    <section aria-label={t`The edit`}>
      <h3>
        <Trans>The edit</Trans>
      </h3>
      <dl className="facts">
        {parts.map(({ name, before, after }) => (
          <div key={name} className="key-line">
            <dt>{name === "" ? t`Input` : visible(name)}</dt>
            <dd className="row">
              <Side text={before} label={t`The model's input`} isOld />
              <Side text={after} label={t`The edited input`} isOld={false} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Side({
  text,
  label,
  isOld,
}: {
  readonly text: string | null;
  readonly label: string;
  readonly isOld: boolean;
}): ReactNode {
  if (text === null) return <span className="quiet">–</span>;
  if (text.length > SHORT || text.includes("\n")) return <LongText text={text} label={label} />;
  return isOld ? (
    <del aria-label={label}>
      <code>{visible(text)}</code>
    </del>
  ) : (
    <ins aria-label={label}>
      <code>{visible(text)}</code>
    </ins>
  );
}

function useRequested({ id, toolCall }: Asked): { readonly input: unknown } | null {
  const [found, setFound] = useState<{ readonly of: string; readonly input: unknown } | null>(null);
  const callId = toolCall?.id ?? null;
  useEffect(() => {
    if (callId === null) return;
    let isCurrent = true;
    ask(RequestedInputDocument, { callId }).then(
      ({ node }) => {
        if (isCurrent && node !== null && "requestedInput" in node) setFound({ of: id, input: node.requestedInput });
      },
      // Without it everything else of the question is still shown.
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, callId]);
  return found?.of === id ? found : null;
}
