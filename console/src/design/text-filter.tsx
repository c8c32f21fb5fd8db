import type { ReactNode } from "react";
import { isComposing } from "./keys.ts";

/** A field of a filter of the address. It filters when it is left, or by Enter. */
export function TextFilter({
  label,
  value = "",
  set,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <input
      key={value}
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onBlur={({ target }) => (target.value.trim() === value ? undefined : set(target.value.trim()))}
      onKeyDown={(event) => (event.key === "Enter" && !isComposing(event) ? set(event.currentTarget.value.trim()) : undefined)}
    />
  );
}
