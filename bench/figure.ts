/** One figure, beside the baseline that was measured in the same run. Absolute values depend on the machine; ratios count. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline: number | null;
  readonly ratio: number | null;
};
