import { useLingui } from "@lingui/react/macro";
import { useEffect, useState, type ComponentType, type ReactNode } from "react";

/** Vite takes a style sheet that has failed once for loaded: it is asked for again here. */
const failedStyles = new Set<HTMLLinkElement>();
addEventListener(
  "error",
  ({ target }) => (target instanceof HTMLLinkElement && target.rel === "stylesheet" ? failedStyles.add(target) : undefined),
  true,
);

/**
 * A part of the console that is loaded when it is first shown. While it cannot be loaded, words and "Try again" stand in its place;
 * the rest of the page stays. `closeOf` is of dialogs, whose words can be closed. The router calls `preload`, which never fails.
 */
export function lazyPart<Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
  { isScreen = false, closeOf }: { readonly isScreen?: boolean; readonly closeOf?: (properties: Properties) => () => void } = {},
): ((properties: Properties) => ReactNode) & { readonly preload: () => Promise<void> } {
  let Part: ComponentType<Properties> | null = null;
  const take = async (): Promise<void> => {
    await Promise.all([...failedStyles].map(loadAgain));
    Part = await load();
  };
  const [Around, Title, look] = isScreen ? (["main", "h1", "empty"] as const) : (["div", "p", "note warning"] as const);
  function LazyPart(properties: Properties): ReactNode {
    const { t } = useLingui();
    const [state, setState] = useState<"loading" | "loaded" | "failed">("loading");
    useEffect(() => {
      if (Part === null && state === "loading")
        take().then(
          () => setState("loaded"),
          () => setState("failed"),
        );
    }, [state]);
    if (Part !== null) return <Part {...properties} />;
    if (state !== "failed")
      return closeOf === undefined ? <div className="skeleton" role="status" aria-label={t`Loading`} /> : null;
    return (
      <Around className={look}>
        <div role="alert">
          <Title>{t`This part could not be loaded. If it stays so, reload the page.`}</Title>
        </div>
        <div>
          <button type="button" onClick={() => setState("loading")}>{t`Try again`}</button>{" "}
          {closeOf === undefined ? null : <button type="button" onClick={closeOf(properties)}>{t`Close`}</button>}
        </div>
      </Around>
    );
  }
  return Object.assign(LazyPart, { preload: () => take().catch(() => undefined) });
}

/** The router's own loader would reload the page when a screen does not come. */
export const lazyScreen = <Properties extends object>(
  load: () => Promise<ComponentType<Properties>>,
): ReturnType<typeof lazyPart<Properties>> => lazyPart(load, { isScreen: true });

function loadAgain(link: HTMLLinkElement): Promise<void> {
  failedStyles.delete(link);
  return new Promise((loaded, refused) => {
    link.addEventListener("load", () => loaded(), { once: true });
    link.addEventListener("error", refused, { once: true });
    document.head.append(link);
  });
}
