import { keptFormat } from "./kept-formats.ts";

const dollarFormat = (digits: number): ((locale: string) => Intl.NumberFormat) =>
  keptFormat(
    (locale) =>
      new Intl.NumberFormat(locale, {
        style: "currency",
        currency: "USD",
        currencyDisplay: "narrowSymbol",
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
  );
const cents = dollarFormat(2);
const partsOfCents = dollarFormat(4);
const short = keptFormat((locale) => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }));

/** An amount of US dollars: with cents, and with four digits below one cent. */
export function dollars(usd: number, locale: string): string {
  const format = usd !== 0 && Math.abs(usd) < 0.01 ? partsOfCents : cents;
  return format(locale).format(usd);
}

/** A count in short form, for example `12.3K`. */
export function shortCount(count: number, locale: string): string {
  return short(locale).format(count);
}

/** The size of a text or file, for example `1.2 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_024 * 1_024) return `${(bytes / 1_024).toFixed(1)} KB`;
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
}

/** A share of 0 to 100 %. */
export function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(100, Math.round((100 * part) / whole));
}
