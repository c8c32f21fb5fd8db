import { useEffect, useRef, type RefObject } from "react";

/**
 * A button that is disabled while its command runs loses the focus. Afterwards it goes to the first wrong field of the place, else
 * back to that button, else to the place itself. A focus that is elsewhere by then stays there.
 */
export function useFocusKept<Place extends HTMLElement>(isBusy: boolean): RefObject<Place | null> {
  const place = useRef<Place>(null);
  const last = useRef<EventTarget | null>(null);
  const wasBusy = useRef(false);
  useEffect(() => {
    const focused = ({ target }: FocusEvent): void => void (last.current = target);
    addEventListener("focusin", focused);
    return () => removeEventListener("focusin", focused);
  }, []);
  useEffect(() => {
    const hasEnded = wasBusy.current && !isBusy;
    wasBusy.current = isBusy;
    const at = place.current;
    const { activeElement: now } = document;
    if (!hasEnded || at === null || (now !== document.body && !(now instanceof HTMLButtonElement && at.contains(now)))) return;
    const wrong = at.querySelector<HTMLElement>('[aria-invalid="true"]');
    (wrong ?? (isIn(at, last.current) ? last.current : at)).focus();
  }, [isBusy]);
  return place;
}

function isIn(place: HTMLElement, target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && place.contains(target) && !target.matches(":disabled");
}
