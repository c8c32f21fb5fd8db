import { Trans } from "@lingui/react/macro";
import { useEffect, useState, type ReactNode } from "react";
import { ViewerDocument } from "../generated/documents.ts";
import { ask, AskFailed } from "../session/ask.ts";
import { ViewerProvider, type Viewer } from "../session/viewer.tsx";

type Known =
  | { readonly kind: "asking" }
  | { readonly kind: "known"; readonly viewer: Viewer }
  | { readonly kind: "failed"; readonly code: string | null; readonly message: string };

/** Shows the console to a viewer that the server knows. A server without actors knows the administrator of this machine. */
export function Gate({ children }: { readonly children: ReactNode }): ReactNode {
  const [known, setKnown] = useState<Known>({ kind: "asking" });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    ask(ViewerDocument, {}).then(
      ({ viewer }) => setKnown({ kind: "known", viewer }),
      (failure: unknown) =>
        setKnown({
          kind: "failed",
          code: failure instanceof AskFailed ? failure.code : null,
          message: failure instanceof Error ? failure.message : String(failure),
        }),
    );
  }, [tries]);
  switch (known.kind) {
    case "asking":
      return null;
    case "known":
      return <ViewerProvider viewer={known.viewer}>{children}</ViewerProvider>;
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
