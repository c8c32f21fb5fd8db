/** The agent of this browser tab: after a reload the conversation is made again from its events. */
const KEY = "triplane-agent";

export function knownAgent(): string | null {
  return sessionStorage.getItem(KEY);
}

export function rememberAgent(id: string): void {
  sessionStorage.setItem(KEY, id);
}

export function forgetAgent(): void {
  sessionStorage.removeItem(KEY);
}
