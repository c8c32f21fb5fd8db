/** A harbour and how long after the moon's passage its high water comes, in hours. */
export type Harbour = { readonly name: string; readonly delayHours: number };

// TODO: read the harbours from a file, so that users can add their own
export const HARBOURS: readonly Harbour[] = [
  { name: "Brest", delayHours: 3.8 },
  { name: "Cuxhaven", delayHours: 12.2 },
];

/** The harbour of that name, whatever its case. */
export function findHarbour(name: string): Harbour | undefined {
  return HARBOURS.find((harbour) => harbour.name.toLowerCase() === name.toLowerCase());
}
