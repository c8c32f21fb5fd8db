/** The value in the middle, of an even number the upper one of the two; infinite if there is none, so that nothing counts as slower than it. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Infinity;
}
