import { Trans } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import { signIn, wantedPage } from "../session/presence.ts";
import { SettingsMenu } from "../shell/settings-menu.tsx";
import "./sign-in.css";

/** Asks for a token. The wanted page opens afterwards; the server says which pages that may be. */
export function SignInForm({
  problem,
  hasEnded,
}: {
  readonly problem: string | null;
  /** True if somebody was signed in on this page until now. */
  readonly hasEnded: boolean;
}): ReactNode {
  const [token, setToken] = useState("");
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useId();
  const send = async (): Promise<void> => {
    setBusy(true);
    try {
      const answer = await signIn(token.trim(), wantedPage(location));
      if (answer.kind === "done") location.replace(answer.returnTo);
      else setRefusal(answer.message);
    } catch (failure) {
      setRefusal(failure instanceof Error ? failure.message : String(failure));
    }
    setBusy(false);
  };
  return (
    <main className="sign-in">
      <form
        className="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h1>
          <img src="/console/icon.svg" alt="" width="28" height="28" /> Triplane
        </h1>
        {hasEnded ? (
          <p className="note" role="status">
            <Trans>Your session has ended. Sign in to continue where you were.</Trans>
          </p>
        ) : null}
        {problem === null ? null : (
          <p className="note warning" role="alert">
            {problem}
          </p>
        )}
        <div className="field">
          <label htmlFor={field}>
            <Trans>Access token</Trans>
          </label>
          <input
            id={field}
            type="password"
            name="token"
            autoComplete="current-password"
            required
            autoFocus
            value={token}
            aria-describedby={`${field}-help`}
            onChange={({ target }) => setToken(target.value)}
          />
          <p id={`${field}-help`} className="quiet small">
            <Trans>From your administrator, or made on the page of your tokens.</Trans>
          </p>
        </div>
        {refusal === null ? null : (
          <p className="alert" role="alert">
            {refusal}
          </p>
        )}
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? <Trans>Signing in</Trans> : <Trans>Sign in</Trans>}
        </button>
      </form>
      <SettingsMenu />
    </main>
  );
}
