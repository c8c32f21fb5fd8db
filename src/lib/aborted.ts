/** A promise that only ever rejects, to race against work that may not heed a signal. Disposed, it lets go of the signal. */
export type Aborted = Disposable & { readonly promise: Promise<never> };

/** Rejects with `reason()` as soon as the signal aborts. What comes of the work that it races against is dropped then. */
export function aborted(signal: AbortSignal, reason: () => unknown = () => signal.reason): Aborted {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const onAbort = (): void => reject(reason());
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { promise, [Symbol.dispose]: () => signal.removeEventListener("abort", onAbort) };
}
