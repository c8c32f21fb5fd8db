import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { PermissionVerdict } from "../generated/documents.ts";

const VERDICT_TONES: Readonly<Record<PermissionVerdict, string>> = { ALLOW: "good", ASK: "waits", DENY: "bad" };

export function useVerdictWords(): Readonly<Record<PermissionVerdict, string>> {
  const { t } = useLingui();
  return { ALLOW: t`allow`, ASK: t`ask`, DENY: t`deny` };
}

export function Verdict({ verdict }: { readonly verdict: PermissionVerdict | null }): ReactNode {
  const words = useVerdictWords();
  if (verdict === null) return <span className="quiet">–</span>;
  return <span className={`badge ${VERDICT_TONES[verdict]}`}>{words[verdict]}</span>;
}

/** Everything that was evaluated for a call, in order. Those that did not apply are quiet. */
export function Considered({
  entries,
}: {
  readonly entries: readonly {
    readonly place: string;
    readonly rule: string;
    readonly verdict: "ALLOW" | "ASK" | "DENY" | null;
  }[];
}): ReactNode {
  return (
    <ol className="considered">
      {entries.map(({ place, rule, verdict }) => (
        <li key={`${place} ${rule}`} className={verdict === null ? "quiet" : ""}>
          <Verdict verdict={verdict} /> <code>{rule}</code> <span className="quiet small">{place}</span>
        </li>
      ))}
    </ol>
  );
}
