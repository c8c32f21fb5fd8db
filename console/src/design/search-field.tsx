import { useEffect, useRef, useState, type ReactNode } from "react";
import { isComposing, useKeys } from "./keys.ts";

/** A search begins when so many ms have passed since the last key. */
const PAUSE_MS = 200;

/** A field whose text is searched a moment after the last key. The key `/` leads to it, and Escape empties it. */
export function SearchField({
  label,
  value,
  search,
}: {
  readonly label: string;
  readonly value: string;
  readonly search: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(search);
  latest.current = search;
  const asked = useRef(value);
  const begin = (words: string): void => {
    asked.current = words;
    latest.current(words);
  };
  // The address may change without the field, for example by a link. Its own search leaves the text, which may have gone on.
  useEffect(() => {
    if (value !== asked.current) setText(value);
    asked.current = value;
  }, [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => begin(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  useKeys({ "/": () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={label}
      aria-keyshortcuts="/"
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === "Enter") begin(text.trim());
        if (event.key !== "Escape") return;
        setText("");
        begin("");
        event.currentTarget.blur();
      }}
    />
  );
}
