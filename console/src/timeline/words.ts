import { useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { keptFormat } from "../design/kept-formats.ts";
import { durationText } from "../design/time.ts";
import { countsOf, type Lane, type Span } from "./lanes.ts";

/** The words for spans and lanes, in the language of the page. */
export function useTimelineWords(): {
  readonly kinds: Readonly<Record<Span["kind"], string>>;
  readonly stateOf: (span: Span) => string;
  readonly lane: (lane: Lane) => string;
  readonly span: (span: Span, now: number) => string;
} {
  const { t, i18n } = useLingui();
  const kinds: Readonly<Record<Span["kind"], string>> = {
    step: t`step`,
    call: t`call`,
    wait: t`wait`,
    message: t`message`,
    error: t`error`,
  };
  const states = { READY: t`ready`, WORKING: t`working`, PAUSED: t`waits` } as const;
  const stateOf = ({ to, hasFailed }: Span): string => (to === null ? t`goes on` : hasFailed ? t`failed` : t`ended`);
  return {
    kinds,
    stateOf,
    lane: (lane) => {
      const { step, call, wait } = countsOf(lane);
      const name = lane.templateId ?? t`agent`;
      const facts = t`level ${lane.depth}, ${states[lane.state]}; steps: ${step}, calls: ${call}, waits: ${wait}`;
      return visible(`${name}${lane.description === "" ? "" : ` ${lane.description}`}: ${facts}`);
    },
    span: (span, now) =>
      [
        `${kinds[span.kind]}${span.name === "" ? "" : ` ${visible(span.name)}`}`,
        clockText(span.from, i18n.locale),
        ...(span.kind === "message" || span.kind === "error" ? [] : [durationText((span.to ?? now) - span.from), stateOf(span)]),
      ].join(", "),
  };
}

const clockFormat = keptFormat((locale) => new Intl.DateTimeFormat(locale, { timeStyle: "long" }));
const tickFormat = keptFormat((locale) => new Intl.DateTimeFormat(locale, { timeStyle: "medium" }));

/** The time of the day, with its zone. */
export function clockText(time: number, locale: string): string {
  return clockFormat(locale).format(time);
}

/** The time of the day for the axis, whose zone stands beside it. */
export function tickText(time: number, locale: string): string {
  return tickFormat(locale).format(time);
}

/** The name of the zone in which times are shown. */
export function zoneText(time: number, locale: string): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZoneName: "short" }).formatToParts(time);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}
