import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { frame, inPieces, playedModel, type Manner } from "../support/providers/played-model.ts";
import { deepseek } from "../support/providers/manners/deepseek.ts";
import { gemini } from "../support/providers/manners/gemini.ts";
import { llamaCpp } from "../support/providers/manners/llama-cpp.ts";
import { lmStudio } from "../support/providers/manners/lm-studio.ts";
import { mistral } from "../support/providers/manners/mistral.ts";
import { ollama } from "../support/providers/manners/ollama.ts";
import { openRouter } from "../support/providers/manners/openrouter.ts";
import { vllm } from "../support/providers/manners/vllm.ts";
import { hasImage, pairs } from "../support/providers/manners/messages.ts";

/** A server as OpenAI's own is: it refuses nothing. */
const tidy: Manner = {
  model: "tidy",
  refuses: () => null,
  frames: ({ text, calls }) => {
    const chunk = (delta: object, finish: string | null = null): string =>
      frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
    return [
      ...inPieces(text).map((content) => chunk({ content })),
      ...calls.map(({ name, input }, index) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, function: { name, arguments: JSON.stringify(input) } }] }),
      ),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      frame({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    ];
  },
};

/** A server of a family that nobody knows, with every refusal that a setting mends, and thoughts in its text. */
const untidy: Manner = {
  model: "unheard-of",
  refuses: (body) => {
    const refused = (message: string) => ({ status: 400, body: { error: { message } } });
    if ("stream_options" in body) return refused("Extra inputs are not permitted: stream_options");
    if (pairs(body).some(([before, { role }]) => before.role === "tool" && role === "user"))
      return refused("roles must alternate");
    if (body.messages.some(hasImage)) return refused("no endpoint supports images");
    return null;
  },
  frames: ({ thought, text, calls }) => tidy.frames({ thought, calls, text: `<think>${thought}</think>\n${text}` }).slice(0, -1),
};

type Run = { readonly code: number | null; readonly lines: readonly string[] };

/** `npm run check-model` with a model behind a server. */
async function check(manner: Manner, compat: object = {}): Promise<Run> {
  const { url } = await playedModel(manner);
  const folder = await temporaryFolder();
  const config = {
    models: { local: { provider: "openai", model: manner.model, compat } },
    templates: { a: { systemPrompt: "x", model: "local" } },
  };
  await writeFile(join(folder, "triplane.config.mjs"), `export default ${JSON.stringify(config)};`);
  const environment = { ...process.env, OPENAI_BASE_URL: `${url}/v1`, TRIPLANE_CONFIG: join(folder, "triplane.config.mjs") };
  const run = spawn(process.execPath, ["scripts/check-model.ts", "local"], { env: environment });
  let said = "";
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(run, "close");
  return { code: run.exitCode, lines: said.split("\n") };
}

const failures = ({ lines }: Run): readonly string[] => lines.filter((line) => line.startsWith("FAILS"));

describe("npm run check-model", () => {
  it.for([
    ["a tidy server", tidy],
    ["Ollama", ollama],
    ["vLLM with a Mistral model", vllm],
    ["LM Studio", lmStudio],
    ["llama-server", llamaCpp],
    ["Mistral", mistral],
    ["Gemini", gemini],
    ["OpenRouter", openRouter],
  ] as const)("has its twelve conversations with %s", async ([, manner]) => {
    const run = await check(manner);
    expect(failures(run), run.lines.join("\n")).toEqual([]);
    expect(run.lines.filter((line) => line.startsWith("works"))).toHaveLength(12);
    expect(run.code).toBe(0);
  });

  it("has eleven with DeepSeek, which reads no images, and says so", async () => {
    const run = await check(deepseek);
    expect(failures(run), run.lines.join("\n")).toEqual([expect.stringMatching(/an image.*works with compat: {"images":false}/)]);
    expect(run.code).toBe(1);
    expect(failures(await check(deepseek, { images: false }))).toEqual([]);
  });

  it("says of each thing that does not work which setting mends it, and all of them together do", async () => {
    const run = await check(untidy);
    const line = run.lines.find((each) => each.startsWith("  compat: ")) ?? "  compat: {}";
    const compat = JSON.parse(line.slice("  compat: ".length)) as object;
    expect(compat, run.lines.join("\n")).toEqual({
      streamOptions: false,
      thinkTags: true,
      userAfterTool: false,
      images: false,
    });
    const mended = await check(untidy, compat);
    expect(failures(mended), mended.lines.join("\n")).toEqual([]);
    expect(mended.lines.join("\n")).toContain("it counts no tokens");
  });

  it("names the models that there are if none is named so", async () => {
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, "c.mjs"),
      'export default { models: { one: { provider: "scripted", script: { replies: [] } } }, templates: { a: { systemPrompt: "x", model: "one" } } };',
    );
    const run = spawn(process.execPath, ["scripts/check-model.ts", "nothing"], {
      env: { ...process.env, TRIPLANE_CONFIG: join(folder, "c.mjs") },
    });
    let said = "";
    run.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await once(run, "close");
    expect(said).toContain("npm run check-model -- one");
    expect(run.exitCode).toBe(1);
  });
});
