import type { ReactNode } from "react";

/** Why a button is disabled; null if it is not. The button names the words by their id, in `aria-describedby`. */
export type Barred = { readonly id: string; readonly words: ReactNode };

/** The reasons for which buttons beside it are disabled, for eyes, fingers and screen readers alike. */
export function WhyDisabled({ of }: { readonly of: readonly Barred[] }): ReactNode {
  const shown = of.filter(({ words }) => words !== null);
  if (shown.length === 0) return null;
  return (
    <p className="why-disabled small quiet">
      {shown.map(({ id, words }) => (
        <span key={id} id={id}>
          {words}
        </span>
      ))}
    </p>
  );
}
