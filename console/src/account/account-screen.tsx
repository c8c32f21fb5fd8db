import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { usePresence } from "../session/presence-context.tsx";
import { nameOf, useViewer } from "../session/viewer.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";
import "../design/screen.css";

/** The viewer's own tokens and sessions. */
export function AccountScreen(): ReactNode {
  const { actor, roles, tenant } = useViewer();
  const { mode } = usePresence();
  return (
    <main className="look">
      <header className="look-head">
        <h1>{nameOf(actor)}</h1>
        <span className="quiet">
          {roles.map((role) => role.toLowerCase()).join(", ")} · {tenant}
        </span>
      </header>
      <div className="look-body" tabIndex={0} role="group" aria-label={nameOf(actor)}>
        {mode === "none" ? (
          <p className="note">
            <Trans>This server has no configured people: the browser is the local administrator, without a session.</Trans>
          </p>
        ) : null}
        <Tokens isOwn />
        <Sessions isOwn />
      </div>
    </main>
  );
}
