import { useLingui } from "@lingui/react";
import { dollars } from "../../design/amounts.ts";
import type { BucketUnit } from "../../generated/documents.ts";
import type { ChartSetting } from "./chart.tsx";

type Variables = {
  readonly bucket: { readonly unit: BucketUnit; readonly timeZone: string };
  readonly from: string;
  readonly to: string | null;
};

/** Amounts in the language of the page, and the variables that the operations of all charts share. */
export function useAmounts({ range: { from, to, unit }, zone }: ChartSetting): {
  readonly count: (value: number) => string;
  readonly share: (value: number) => string;
  readonly money: (value: number) => string;
  readonly variables: Variables;
} {
  const {
    i18n: { locale },
  } = useLingui();
  const whole = new Intl.NumberFormat(locale);
  const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  return {
    count: (value) => whole.format(value),
    share: (value) => percents.format(value),
    money: (value) => dollars(value, locale),
    variables: { bucket: { unit, timeZone: zone }, from, to },
  };
}
