import { useLingui } from "@lingui/react/macro";
import type { DoneReason } from "../generated/documents.ts";

/** The reasons for which turns end; OPEN for a turn that has not ended. */
export function useReasonWords(): Readonly<Record<DoneReason | "OPEN", string>> {
  const { t } = useLingui();
  return {
    COMPLETED: t`completed`,
    INTERRUPTED: t`interrupted`,
    ERROR: t`failed`,
    MAX_STEPS: t`too many steps`,
    BUDGET: t`budget`,
    SHAPE: t`answer without its form`,
    OPEN: t`under way`,
  };
}
