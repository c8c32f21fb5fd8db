/** Later ones stand in the texts of earlier ones: Edge calls itself Chrome, and Chrome calls itself Safari. */
const BROWSERS = [
  ["Edge", /\bEdg(?:A|iOS)?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)\S* .*\bSafari\//],
] as const;
const SYSTEMS = [
  ["Android", /\bAndroid\b/],
  ["iOS", /\b(?:iPhone|iPad|iPod)\b/],
  ["Windows", /\bWindows NT\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** The browser and the system that a User-Agent names, as in "Firefox 144, Linux"; the header itself if it names none. */
export function browserOf(userAgent: string): string {
  const browser = BROWSERS.map(([name, form]) => ({ name, version: form.exec(userAgent)?.[1] })).find(
    ({ version }) => version !== undefined,
  );
  if (browser === undefined) return userAgent;
  const system = SYSTEMS.find(([, form]) => form.test(userAgent));
  return `${browser.name} ${browser.version}${system === undefined ? "" : `, ${system[0]}`}`;
}
