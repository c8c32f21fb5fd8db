import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { AgentRowFragment } from "../generated/documents.ts";

type Standing = Pick<AgentRowFragment, "state" | "doneReason"> & { readonly archivedAt?: string | null };

/** The state of an agent in one word. */
export function AgentBadge({ agent: { state, doneReason, archivedAt = null } }: { readonly agent: Standing }): ReactNode {
  const { t } = useLingui();
  if (archivedAt !== null) return <span className="badge">{t`archived`}</span>;
  switch (state) {
    case "WORKING":
      return <span className="badge works">{t`working`}</span>;
    case "PAUSED":
      return <span className="badge waits">{t`waits`}</span>;
    case "READY":
      return doneReason === "ERROR" ? (
        <span className="badge bad">{t`failed`}</span>
      ) : doneReason === "INTERRUPTED" ? (
        <span className="badge">{t`interrupted`}</span>
      ) : (
        <span className="badge good">{t`ready`}</span>
      );
  }
}
