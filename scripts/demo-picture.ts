import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/**
 * `npm run demo:picture`: draws docs/demo.svg, the picture of the README, from a run of `npm run demo -- --yes` against a server with
 * the scripted models. The picture shows the turn of the second agent. Needs a machine without bubblewrap: in a sandbox that
 * agent asks for nothing.
 */
const PICTURE = "docs/demo.svg";
const WIDEST = 104;
const [LINE, GAP, LETTER, MARGIN] = [15, 6, 7.25, 14];

/** The colour of a line, by how the line begins. The first that fits counts. */
const COLOURS: readonly (readonly [beginning: RegExp, colour: string])[] = [
  [/^(\$ |…$)/, "#8b949e"],
  [/^> /, "#ffffff"],
  [/^\[\w+\] [A-Z]+ in /, "#7ee787"],
  [/^\[/, "#79c0ff"],
  [/^(May |asks: |→ )/, "#f2cc60"],
  [/^\+/, "#7ee787"],
  [/^-/, "#ff7b72"],
  [/^(@@|[{}]| {2}")/, "#8b949e"],
  [/^/, "#e6edf3"],
];

const folder = await mkdtemp(join(tmpdir(), "triplane-picture-"));
try {
  const turn = turnOf(await runDemo());
  if (!turn.some((line) => line.startsWith("May ")))
    throw new Error("the agent asked for nothing: draw it where there is no bubblewrap");
  await writeFile(PICTURE, svg(["$ npm run demo -- --yes", "…", "", ...turn]));
  console.log(`wrote ${PICTURE}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** All lines that the demo prints. */
async function runDemo(): Promise<readonly string[]> {
  const env = { PATH: process.env["PATH"], PORT: "0", TRIPLANE_DATA_DIR: folder, LOG_LEVEL: "error" };
  const server = spawn(process.execPath, ["src/main.ts"], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await addressIn(server.stdout);
    const demo = spawn(process.execPath, ["examples/demo/demo.ts", "--yes", "--url", url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    for await (const line of createInterface(demo.stdout)) lines.push(line);
    return lines;
  } finally {
    server.kill();
    await new Promise((resolve) => server.once("exit", resolve));
  }
}

async function addressIn(output: Readable): Promise<string> {
  const lines = createInterface(output);
  for await (const line of lines) {
    const [, url] = /^ +GraphQL +(\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server did not start");
}

/** The lines of the second agent's turn. Of several empty lines one is left. */
function turnOf(lines: readonly string[]): readonly string[] {
  const second = lines.slice(lines.indexOf("Another agent, an engineer, works on a copy of the example."));
  const turn = second.slice(second.findIndex((line) => line.startsWith("> ")));
  return turn.filter((line, at) => line !== "" || turn[at - 1] !== "");
}

function svg(lines: readonly string[]): string {
  let y = MARGIN;
  const texts = lines.flatMap((line) => {
    y += line === "" ? GAP : LINE;
    return line === ""
      ? []
      : [`<text x="${MARGIN}" y="${y}" fill="${colourOf(line)}">${indented(escaped(shortened(line)))}</text>`];
  });
  const [width, height] = [Math.round(WIDEST * LETTER) + 2 * MARGIN, y + MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: an agent reads two files, asks to change one and to run the tests, is allowed both, and is done">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12">
${texts.join("\n")}
</g>
</svg>
`;
}

function colourOf(line: string): string {
  return COLOURS.find(([beginning]) => beginning.test(line))?.[1] ?? "";
}

function shortened(line: string): string {
  return line.length > WIDEST ? `${line.slice(0, WIDEST - 1)}…` : line;
}

/** The line with its spaces at the start and in rows, which SVG would join. */
function indented(line: string): string {
  return line.replace(/^ | {2,}/g, (spaces) => "&#160;".repeat(spaces.length));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
