/** A half-open span of time, without `to`. */
export type TimeRange = { readonly from?: Date | null | undefined; readonly to?: Date | null | undefined };

export function within(range: TimeRange | null | undefined): { gte?: Date; lt?: Date } {
  return { ...(range?.from ? { gte: range.from } : {}), ...(range?.to ? { lt: range.to } : {}) };
}
