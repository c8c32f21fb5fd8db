import { useSyncExternalStore } from "react";
import type { Tone } from "./content.ts";

export type Token = Tone | "line" | "line-strong" | "ink" | "surface";

/** A colour of the design tokens, as the theme of the page has it. Canvases know no tokens. */
export function colourOf(element: HTMLElement, token: Token): string {
  element.style.color = `var(--${token})`;
  const { color } = getComputedStyle(element);
  element.style.removeProperty("color");
  return color;
}

function subscribe(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(changed);
  system.addEventListener("change", changed);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", changed);
    chosen.disconnect();
  };
}

/** Changes with the theme of the page, whether the system or the person changes it. */
export function useTheme(): string {
  return useSyncExternalStore(subscribe, () => getComputedStyle(document.body).backgroundColor);
}
