import { Trans } from "@lingui/react/macro";
import { useEffect, useState, type ReactNode } from "react";
import { ViewerDocument } from "../generated/documents.ts";
import { ask, AskFailed } from "../session/ask.ts";
import { forgetDraftsOfOthers } from "../session/drafts.ts";
import { onUnknown, readPresence, SIGN_IN_PAGE, wantedPage, type Presence } from "../session/presence.ts";
import { PresenceProvider } from "../session/presence-context.tsx";
import { ViewerProvider, type Viewer } from "../session/viewer.tsx";
import { SignInForm } from "../sign-in/sign-in-form.tsx";

type Known =
  | { readonly kind: "asking" }
  | { readonly kind: "known"; readonly viewer: Viewer; readonly presence: Presence }
  | { readonly kind: "unknown"; readonly problem: string | null; readonly hasEnded: boolean }
  | { readonly kind: "failed"; readonly code: string | null; readonly message: string };

/**
 * Shows the console to a viewer that the server knows, and the sign-in form to others. A server without actors knows the
 * administrator of this machine.
 */
export function Gate({ children }: { readonly children: ReactNode }): ReactNode {
  const [known, setKnown] = useState<Known>({ kind: "asking" });
  const [tries, setTries] = useState(0);
  const isKnown = known.kind === "known";
  useEffect(() => (isKnown ? onUnknown(() => setTries((count) => count + 1)) : undefined), [isKnown]);
  useEffect(() => {
    let isCurrent = true;
    void look(isKnown).then((now) => {
      if (!isCurrent) return;
      setKnown((before) => after(before, now));
    });
    return () => {
      isCurrent = false;
    };
  }, [tries]);
  useEffect(() => (known.kind === "unknown" ? showAddress() : undefined), [known.kind]);
  switch (known.kind) {
    case "asking":
      return null;
    case "known":
      return (
        <PresenceProvider presence={known.presence}>
          <ViewerProvider viewer={known.viewer}>{children}</ViewerProvider>
        </PresenceProvider>
      );
    case "unknown":
      return <SignInForm problem={known.problem} hasEnded={known.hasEnded} />;
    case "failed":
      return (
        <main className="empty">
          <h1>
            {known.code === "UNAUTHENTICATED" ? (
              <Trans>The server does not know you.</Trans>
            ) : (
              <Trans>The server does not answer.</Trans>
            )}
          </h1>
          <p role="alert">{known.message}</p>
          <button type="button" onClick={() => setTries(tries + 1)}>
            <Trans>Try again</Trans>
          </button>
        </main>
      );
  }
}

async function look(wasKnown: boolean): Promise<Known> {
  try {
    const presence = await readPresence();
    if (presence.mode === "token" && !presence.isSignedIn)
      return { kind: "unknown", problem: presence.problem, hasEnded: wasKnown };
    const { viewer } = await ask(ViewerDocument, {});
    forgetDraftsOfOthers(viewer.actor.id);
    return { kind: "known", viewer, presence };
  } catch (failure) {
    return {
      kind: "failed",
      code: failure instanceof AskFailed ? failure.code : null,
      message: failure instanceof Error ? failure.message : String(failure),
    };
  }
}

/**
 * The open page stays for a viewer who is still known, and while the server does not answer. It is loaded anew
 * for another person, tenant or role: another tab may have signed in.
 */
function after(before: Known, now: Known): Known {
  if (before.kind !== "known") return now;
  if (now.kind === "failed") return now.code === "UNAUTHENTICATED" ? now : before;
  if (now.kind !== "known") return now;
  if (JSON.stringify(now.viewer) !== JSON.stringify(before.viewer)) location.reload();
  return before;
}

/** The form has an address of its own, which keeps the wanted page. The router, which replaces `replaceState`, hears nothing of it. */
function showAddress(): void {
  const wanted = wantedPage(location);
  const query = wanted === "/console" || wanted === "/console/" ? "" : `?returnTo=${encodeURIComponent(wanted)}`;
  History.prototype.replaceState.call(window.history, null, "", `${SIGN_IN_PAGE}${query}`);
}
