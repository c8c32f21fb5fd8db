import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { signOut } from "../session/presence.ts";
import { usePresence } from "../session/presence-context.tsx";

/** Ends the browser's session, if it has one. */
export function SignOut(): ReactNode {
  const { t } = useLingui();
  const { sessionId } = usePresence();
  const [problem, setProblem] = useState<string | null>(null);
  if (sessionId === null) return null;
  return (
    <button
      type="button"
      className="plain small sign-out"
      title={problem ?? t`Ends this browser's session`}
      onClick={() => void signOut().catch((failure: unknown) => setProblem(String(failure)))}
    >
      {problem === null ? <Trans>Sign out</Trans> : <Trans>Sign out again</Trans>}
    </button>
  );
}
