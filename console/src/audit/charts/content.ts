import { durationText } from "../../design/time.ts";
import type { ChartBucketFragment } from "../../generated/documents.ts";

/** Colours of the design tokens that series have. */
export type Tone =
  "accent" | "danger" | "ink-quiet" | "series-1" | "series-2" | "series-3" | "series-4" | "series-5" | "series-6";

/** `stack` bars stand on each other, an `over` bar stands before them as a part of them. */
export type Shape = "stack" | "over" | "line" | "dashed";

export type Series = {
  readonly name: string;
  readonly tone: Tone;
  readonly shape: Shape;
  /** A value for each bucket; null is a gap. */
  readonly values: readonly (number | null)[];
};

export type Unit = "count" | "duration" | "dollars";

export type Column = {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly text: (value: number) => string;
};

/** A chart and the table of its values. */
export type ChartContent = {
  readonly buckets: readonly ChartBucketFragment[];
  readonly series: readonly Series[];
  readonly columns: readonly Column[];
  /** The figures of the whole range. */
  readonly summary: string;
  readonly note?: string;
  readonly asOf: string;
};

/** The values of a series by bucket. An answer without rows has no series. */
export function valuesOf<Figures>(
  buckets: readonly unknown[],
  series: readonly Figures[] | undefined,
  value: (figures: Figures) => number | null,
  without: number | null,
): readonly (number | null)[] {
  return buckets.map((_, index) => {
    const figures = series?.[index];
    return figures === undefined ? without : value(figures);
  });
}

/** The curves of p50 and p95 of a time, with their columns. */
export function timeCurves<Figures>(
  buckets: readonly unknown[],
  series: readonly Figures[] | undefined,
  time: (figures: Figures) => { readonly p50: number | null; readonly p95: number | null },
): Pick<ChartContent, "series" | "columns"> {
  const halves = valuesOf(buckets, series, (figures) => time(figures).p50, null);
  const most = valuesOf(buckets, series, (figures) => time(figures).p95, null);
  return {
    series: [
      { name: "p50", tone: "series-1", shape: "line", values: halves },
      { name: "p95", tone: "series-2", shape: "dashed", values: most },
    ],
    columns: [
      { name: "p50", values: halves, text: durationText },
      { name: "p95", values: most, text: durationText },
    ],
  };
}

/** The heights at which stacked bars end: each value with those before it. */
export function stacked(values: readonly (readonly (number | null)[])[]): readonly number[][] {
  const ends: number[][] = [];
  for (const each of values) {
    const below = ends.at(-1);
    ends.push(each.map((value, index) => (below?.[index] ?? 0) + (value ?? 0)));
  }
  return ends;
}
