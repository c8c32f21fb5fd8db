import { useEffect, useRef, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { markText, STEPS, timeText } from "./axes.ts";
import { stacked, type ChartContent, type Series, type Unit } from "./content.ts";
import { colourOf, useTheme } from "./theme.ts";

const HEIGHT_PX = 220;
const LEAST_PX = 200;
const HATCH_PX = 7;

/** The drawing of a chart. Its values are in the table beside it. */
export function Plot({
  content: { buckets, series },
  unit,
  locale,
  label,
  point,
}: {
  readonly content: ChartContent;
  readonly unit: Unit;
  readonly locale: string;
  readonly label: string;
  /** Called with the bucket below the pointer; null if there is none. */
  readonly point: (index: number | null) => void;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const width = (): number => Math.max(element.clientWidth, LEAST_PX);
    const plot = new uPlot(
      { width: width(), height: HEIGHT_PX, ...optionsOf({ element, buckets, series, unit, locale, point }) },
      dataOf(buckets, series),
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: width(), height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [buckets, series, unit, locale, theme]);
  return <div ref={place} className="chart-plot" role="img" aria-label={label} />;
}

type Buckets = ChartContent["buckets"];

const seconds = (time: string): number => Date.parse(time) / 1_000;

/** The series as they are drawn: the highest bar of a stack first, and each lower one before it. */
function drawn(series: readonly Series[]): readonly { readonly of: Series; readonly values: (number | null)[] }[] {
  const bars = series.filter(({ shape }) => shape === "stack");
  const ends = stacked(bars.map(({ values }) => values));
  const others = series.filter(({ shape }) => shape !== "stack");
  return [
    ...bars.map((of, index) => ({ of, values: ends[index] ?? [] })).toReversed(),
    ...others.map((of) => ({ of, values: of.values.slice() })),
  ];
}

function dataOf(buckets: Buckets, series: readonly Series[]): uPlot.AlignedData {
  const middles = buckets.map(({ from, to }) => (seconds(from) + seconds(to)) / 2);
  return [middles, ...drawn(series).map(({ values }) => values)];
}

function optionsOf({
  element,
  buckets,
  series,
  unit,
  locale,
  point,
}: {
  readonly element: HTMLElement;
  readonly buckets: Buckets;
  readonly series: readonly Series[];
  readonly unit: Unit;
  readonly locale: string;
  readonly point: (index: number | null) => void;
}): Omit<uPlot.Options, "width" | "height"> {
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis = {
    font,
    stroke: colourOf(element, "ink-quiet"),
    grid: { stroke: colourOf(element, "line"), width: 1 },
    ticks: { stroke: colourOf(element, "line"), width: 1, size: 4 },
  };
  const first = seconds(buckets[0]?.from ?? "");
  const last = seconds(buckets.at(-1)?.to ?? "");
  const hatch = colourOf(element, "line-strong");
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    padding: [10, 28, 0, 0],
    scales: {
      x: { time: true, range: [first, last] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 70,
        values: (_, splits, __, ___, distance) => splits.map((at) => timeText(at, distance, locale)),
      },
      { ...axis, size: 68, incrs: STEPS[unit], values: (_, splits) => splits.map((value) => markText(unit, value, locale)) },
    ],
    series: [{}, ...drawn(series).map(({ of }) => lookOf(of, colourOf(element, of.tone), colourOf(element, "surface")))],
    hooks: {
      drawClear: [(plot) => hatchParts(plot, buckets, hatch)],
      setCursor: [({ cursor }) => point(cursor.idx ?? null)],
    },
  };
}

function lookOf({ name, shape }: Series, colour: string, surface: string): uPlot.Series {
  switch (shape) {
    case "stack":
    case "over": {
      const paths = uPlot.paths.bars?.({ size: [0.8, 40] });
      const bars = { label: name, fill: colour, stroke: surface, width: 1, points: { show: false } };
      return paths === undefined ? bars : { ...bars, paths };
    }
    case "line":
    case "dashed":
      return {
        label: name,
        stroke: colour,
        width: 2,
        ...(shape === "dashed" ? { dash: [6, 4] } : {}),
        points: { show: true, size: 5, fill: colour, stroke: colour },
      };
  }
}

/** Hatches the buckets that the range or the present cuts. */
function hatchParts(plot: uPlot, buckets: Buckets, colour: string): void {
  const { ctx, bbox } = plot;
  const gap = HATCH_PX * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.globalAlpha = 0.45;
  ctx.lineWidth = devicePixelRatio;
  for (const { from, to } of buckets.filter(({ isWhole }) => !isWhole)) {
    const left = plot.valToPos(seconds(from), "x", true);
    const right = plot.valToPos(seconds(to), "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += gap) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}
