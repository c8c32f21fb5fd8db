/** One series of a server's metrics. */
type Series = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** The metrics of a server, in Prometheus' text format. */
export async function metricsText(url: string): Promise<string> {
  return (await fetch(new URL("/metrics", url))).text();
}

/** Reads the text format. Throws on a line that is none of it. */
export function seriesOf(text: string): readonly Series[] {
  return text.split("\n").flatMap((line) => {
    if (line === "" || line.startsWith("#")) return [];
    const [, name, labels = "", value] = /^([a-z_]+)(?:\{(.*)\})? (-?\d+(?:\.\d+)?(?:e[-+]\d+)?|[-+]Inf)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`this is no line of metrics: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value?.replace("Inf", "Infinity")) }];
  });
}

/** The sum of the series of this name with these labels, as the server says it now. */
export async function metric(url: string, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  const found = seriesOf(await metricsText(url)).filter(
    (series) => series.name === name && Object.entries(labels).every(([key, value]) => series.labels[key] === value),
  );
  if (found.length === 0) throw new Error(`there is no series ${name} ${JSON.stringify(labels)}`);
  return found.reduce((sum, { value }) => sum + value, 0);
}
