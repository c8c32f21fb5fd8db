import { Trans } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { FormField } from "@triplane/client/input-form";
import type { ReactNode } from "react";
import { flatEntries } from "./flat-form.ts";

/** The longest input that is shown by its fields, in characters of its texts together. A longer one is shown as JSON. */
const MOST_CHARACTERS = 2_000;

/** An input by the fields of its tool's flat schema; null if it must be shown as JSON. */
export function flatView(schema: unknown, input: unknown): ReactNode | null {
  const found = flatEntries(schema, input);
  if (found === null || found.reduce((sum, { text }) => sum + text.length, 0) > MOST_CHARACTERS) return null;
  return (
    <dl className="facts input-fields">
      {found.map(({ field, text }) => (
        <FieldShown key={field.name} field={field} text={text} />
      ))}
    </dl>
  );
}

function FieldShown({ field, text }: { readonly field: FormField; readonly text: string }): ReactNode {
  const { name, title, description } = field;
  return (
    <>
      <dt>
        {visible(title ?? name)}
        {title === null || title === name ? null : (
          <>
            {" "}
            <code className="quiet small">{visible(name)}</code>
          </>
        )}
      </dt>
      <dd>
        {text === "" ? (
          <span className="quiet">
            <Trans>(empty)</Trans>
          </span>
        ) : (
          <code className="words">{visible(text)}</code>
        )}
        {description === null ? null : <div className="small quiet">{visible(description)}</div>}
      </dd>
    </>
  );
}
