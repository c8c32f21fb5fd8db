/** The browser's storage of the tab, or of all tabs. A browser may refuse it: then each read is null. */
export type Place = "tab" | "browser";

export function stored(place: Place, key: string): string | null {
  try {
    return storageOf(place).getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text, or removes it; false if the browser refuses, or has no room. */
export function store(place: Place, key: string, text: string | null): boolean {
  try {
    if (text === null) storageOf(place).removeItem(key);
    else storageOf(place).setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Reading the property fails if the browser blocks all storage. */
function storageOf(place: Place): Storage {
  return place === "tab" ? sessionStorage : localStorage;
}
