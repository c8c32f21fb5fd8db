import { useEffect, useLayoutEffect, useRef } from "react";

type Scroller = { readonly current: HTMLDivElement | null };

/** So near to its end, a list counts as scrolled to it; px. */
const NEAR_END_PX = 80;

/** The keys that move a list away from its end. */
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

/**
 * Keeps the end of a list in view, until a person moves away from it. Only their own acts count: the browser moves a list, too, when
 * items above those in view get another height. `leave` is one more such act.
 */
export function useEnd(
  scroller: Scroller,
  list: { readonly current: HTMLOListElement | null },
): { readonly isAtEnd: { readonly current: boolean }; readonly leave: () => void } {
  const isAtEnd = useRef(true);
  const leave = (): void => {
    isAtEnd.current = false;
  };
  useEffect(() => {
    const [element, content] = [scroller.current, list.current];
    if (element === null || content === null) return;
    const ended = new AbortController();
    const on = <Name extends keyof HTMLElementEventMap>(name: Name, act: (event: HTMLElementEventMap[Name]) => void): void =>
      element.addEventListener(name, act, { signal: ended.signal, passive: true });
    on("wheel", ({ deltaY }) => (deltaY < 0 ? leave() : null));
    on("touchmove", leave);
    on("keydown", ({ key }) => (UPWARDS.has(key) ? leave() : null));
    // A press on the scroll bar.
    on("pointerdown", ({ target }) => (target === element ? leave() : null));
    // Somebody who opens a call reads it.
    on("click", ({ target }) => (target instanceof Element && target.closest("summary") !== null ? leave() : null));
    on("scroll", () => {
      if (element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX) isAtEnd.current = true;
    });
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    return () => {
      ended.abort();
      observer.disconnect();
    };
  }, []);
  return { isAtEnd, leave };
}

/** Makes a change above the items that are in view, and leaves these where they are. */
export function useKeptPlace(scroller: Scroller, change: () => void): () => void {
  const kept = useRef<{ readonly element: Element; readonly top: number } | null>(null);
  useLayoutEffect(() => {
    const [element, before] = [scroller.current, kept.current];
    if (element === null || before === null) return;
    kept.current = null;
    element.scrollTop += before.element.getBoundingClientRect().top - before.top;
    // The button is gone with the last of the earlier items: keys go on from the conversation.
    if (document.activeElement === document.body) element.focus({ preventScroll: true });
  });
  return () => {
    const element = scroller.current?.querySelector(".items > li");
    if (element != null) kept.current = { element, top: element.getBoundingClientRect().top };
    change();
  };
}
