/** A span of time, as clients ask for it: from the first moment on, up to the second, which is not in it. */
export type TimeRange = { readonly from?: Date | null | undefined; readonly to?: Date | null | undefined };

/** The span as a condition on a column; of none, every time is taken. */
export function within(range: TimeRange | null | undefined): { gte?: Date; lt?: Date } {
  return { ...(range?.from ? { gte: range.from } : {}), ...(range?.to ? { lt: range.to } : {}) };
}
