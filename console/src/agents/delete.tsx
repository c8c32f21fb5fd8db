import { Trans } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { DeleteAgentDocument } from "../generated/documents.ts";
import { change, refusalText } from "../session/ask.ts";
import { useMay } from "../session/viewer.tsx";

/** Deletes an archived agent for ever, after a second press. Only administrators see it. */
export function Delete({ agentId }: { readonly agentId: string }): ReactNode {
  const may = useMay("DELETE_AGENTS");
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!may.isAllowed) return null;
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      const { userErrors } = (await change(DeleteAgentDocument, { input: { agentId } })).deleteAgent;
      setProblem(refusalText(userErrors));
      if (userErrors.length === 0) await navigate({ to: "/agents" });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {isAsking ? (
        <div className="row" role="group">
          <span>
            <Trans>The agent, those below it, and their messages, calls and events go for ever.</Trans>
          </span>
          <button type="button" className="danger" disabled={isBusy} onClick={() => void remove()}>
            <Trans>Delete for ever</Trans>
          </button>
          <button type="button" disabled={isBusy} onClick={() => setAsking(false)}>
            <Trans>Cancel</Trans>
          </button>
        </div>
      ) : (
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          <Trans>Delete</Trans>
        </button>
      )}
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
    </>
  );
}
