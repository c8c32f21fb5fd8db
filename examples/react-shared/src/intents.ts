const keys = new Map<string, string>();

/** The idempotency key of what a person means: the same until it was accepted, so that meaning it again after a lost answer does it once. */
export function keyOf(intent: string): string {
  const key = keys.get(intent) ?? crypto.randomUUID();
  keys.set(intent, key);
  return key;
}

/** The server has accepted it: the same again is another intent. */
export function accepted(intent: string): void {
  keys.delete(intent);
}
