import { useEffect, useRef, type KeyboardEvent as FieldKeyEvent } from "react";

/** The second key of a pair such as `g i` comes within this time; ms. */
const PAIR_MS = 1_000;

/** The handlers of keys, by `KeyboardEvent.key`; of a pair of keys as `g i`. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/**
 * Handles single keys of the page. A key in a field, with Ctrl, Alt or Meta, or in a dialog, is not handled. Enter on a button or
 * a link is theirs. A key that is held down acts once, except for j and k.
 */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let before = { key: "", at: -PAIR_MS };
    const pressed = (event: KeyboardEvent): void => {
      const isPair = event.timeStamp - before.at < PAIR_MS;
      const handler = (isPair ? current.current[`${before.key} ${event.key}`] : undefined) ?? current.current[event.key];
      before = { key: event.key, at: event.timeStamp };
      if (handler === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.repeat && event.key !== "j" && event.key !== "k") return;
      if (isTaken(event)) return;
      event.preventDefault();
      handler(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** The code of a key that an input method takes. Safari ends the composition before it tells of that key. */
const TAKEN_KEY = 229;

/** True for a key of an input method's composition, such as the Enter that chooses a word. */
export function isComposing({ nativeEvent }: FieldKeyEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === TAKEN_KEY;
}

/** The keys of a form: Escape leaves it, Ctrl Enter sends it. Those of an input method's composition are its own. */
export function formKeys(back: () => void, send: () => void): (event: FieldKeyEvent) => void {
  return (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") back();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    // A key that is held down sends one form, not the next one, too.
    if (!event.repeat) send();
  };
}

/** Ctrl Enter sends the form that has the focus, if its button would. A form with keys of its own has taken the event. */
export function useSendKey(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      if (event.repeat || event.defaultPrevented || event.isComposing || !(event.target instanceof Element)) return;
      const form = event.target.closest("form");
      const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]');
      if (form === null || button === null || button === undefined || button.disabled) return;
      event.preventDefault();
      form.requestSubmit(button);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function isTaken({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('[role="dialog"]') !== null) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable]") !== null) return true;
  return (key === "Enter" || key === " ") && target.closest("button, a, summary") !== null;
}
