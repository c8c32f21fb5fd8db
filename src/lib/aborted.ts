/** A promise that only ever rejects, to race against work that may ignore a signal. Dispose it to release the signal. */
export type Aborted = Disposable & { readonly promise: Promise<never> };

/** Rejects with `reason()` when the signal aborts. The raced work's result is then dropped. */
export function aborted(signal: AbortSignal, reason: () => unknown = () => signal.reason): Aborted {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const onAbort = (): void => reject(reason());
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { promise, [Symbol.dispose]: () => signal.removeEventListener("abort", onAbort) };
}

/** The abort reason of a signal whose work is over: Node's default error costs more than most calls. */
export const ENDED = new Error("what the signal was for has ended");

/** A signal that aborts if this resolves with false. */
export function abortedUnless(is: Promise<boolean>): AbortSignal {
  const refused = new AbortController();
  void is.then((yes) => yes || refused.abort());
  return refused.signal;
}
