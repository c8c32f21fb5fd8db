import { useLingui } from "@lingui/react";
import { useSyncExternalStore, type ReactNode } from "react";
import { presentMs } from "./present.ts";
import { relativeText, zonedText } from "./time.ts";

const TICK_MS = 10_000;
let now: number | null = null;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = presentMs();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The present time; all components see the same, and it moves every 10 s. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => (now ??= presentMs()));
}

/** A time as its distance from now. The whole time with its zone is in the tooltip. */
export function Ago({ time }: { readonly time: string }): ReactNode {
  const { i18n } = useLingui();
  const shown = useNow();
  // An event of this moment may be newer than the last tick.
  const text = relativeText(time, Math.max(shown, Math.min(Date.parse(time), presentMs())), i18n.locale);
  return (
    <time dateTime={time} title={zonedText(time, i18n.locale)}>
      {text}
    </time>
  );
}

/** A time in the future. */
export function Until({ time }: { readonly time: string }): ReactNode {
  const { i18n } = useLingui();
  const text = relativeText(time, useNow(), i18n.locale);
  return (
    <time dateTime={time} title={zonedText(time, i18n.locale)}>
      {text}
    </time>
  );
}
