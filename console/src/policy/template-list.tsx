import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";
import { Verdict } from "../calls/verdict.tsx";
import { PermissionsDocument, type PermissionsQuery } from "../generated/documents.ts";

type Template = PermissionsQuery["templates"][number];

/** The permission of each template, as the configuration has it. */
export function TemplateList(): ReactNode {
  const { t } = useLingui();
  const [{ data, error }] = useQuery({ query: PermissionsDocument });
  return (
    <div className="look-body" tabIndex={0} role="group" aria-label={t`Templates`}>
      {error === undefined ? null : (
        <p role="alert" className="alert">
          {error.message}
        </p>
      )}
      {data?.templates.length === 0 ? (
        <p className="quiet">
          <Trans>No template is configured for you.</Trans>
        </p>
      ) : null}
      {data?.templates.map((template) => (
        <One key={template.id} template={template} />
      ))}
    </div>
  );
}

function One({ template }: { readonly template: Template }): ReactNode {
  const { t } = useLingui();
  const { templateId, description, permission, approvalQuorum, allowsSelfApproval, hooks, version } = template;
  const lists: readonly (readonly [string, readonly string[] | null])[] =
    permission === null
      ? []
      : [
          [t`Only these tools`, permission.allowTools],
          [t`Denied tools`, permission.denyTools],
          [t`Tools that run without asking`, permission.autoAllowTools],
          [t`Tools that run without asking in a sandbox`, permission.autoAllowInBox],
          [t`Tools that ask`, permission.requireApprovalTools],
          [t`Hooks`, hooks],
        ];
  return (
    <section>
      <h2>
        {templateId} {version === null ? null : <span className="badge">{version}</span>}
      </h2>
      {description === null ? null : <p className="quiet">{description}</p>}
      {permission === null ? (
        <p className="quiet">
          <Trans>You may not read its permission.</Trans>
        </p>
      ) : (
        <>
          <dl className="look-facts">
            <dt>{t`Otherwise`}</dt>
            <dd>
              <code>{permission.mode}</code>
              {permission.readOnlyCommands ? ` · ${t`commands that only read run`}` : ""}
            </dd>
            <dt>{t`People per call`}</dt>
            <dd>
              {approvalQuorum ?? "–"}
              {allowsSelfApproval === true ? ` · ${t`also who asked for it`}` : ""}
            </dd>
            {lists.map(([name, values]) =>
              values === null || values.length === 0 ? null : (
                <div key={name} className="key-line">
                  <dt>{name}</dt>
                  <dd>
                    <code>{values.join(", ")}</code>
                  </dd>
                </div>
              ),
            )}
          </dl>
          {permission.rules.length === 0 ? null : (
            <ol className="considered">
              {permission.rules.map(({ list, rule, place }) => (
                <li key={place}>
                  <Verdict verdict={list} /> <code>{rule}</code> <span className="quiet small">{place}</span>
                </li>
              ))}
            </ol>
          )}
          <p className="row">
            <Link to="/policy" search={{ template: templateId }}>
              <Trans>Its stored rules</Trans>
            </Link>
            <Link to="/policy" search={{ view: "simulate", template: templateId }}>
              <Trans>Simulate a change</Trans>
            </Link>
          </p>
        </>
      )}
    </section>
  );
}
