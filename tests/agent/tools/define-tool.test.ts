import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, optional, Type, type Tool } from "../../../src/triplane.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";

const PLAIN = { description: "Tells the weather.", readOnly: true } as const;

function fail(): never {
  throw new Error("a bug of the author's");
}

/** The problems with an input, in words; none if it fits. */
function problems(tool: Tool, input: Parameters<Tool["bind"]>[0]): readonly string[] {
  const bound = tool.bind(input);
  return bound.ok ? [] : bound.refusal.map(({ path, message }) => `${path} ${message}`);
}

/** The types of definitions: each mistake is told at its line. What follows an error that is expected must not be right. */
export const TYPED = (): readonly Tool[] => [
  defineTool({
    ...PLAIN,
    name: "text",
    inputSchema: Type.Object({ town: Type.String(), days: optional(Type.Integer()) }),
    paths: {
      town: "read",
      // @ts-expect-error no parameter has this name
      twon: "read",
    },
    run: ({ town, days }) => {
      const known: number | null | undefined = days;
      return `${town} ${known}`;
    },
  }),
  defineTool({
    ...PLAIN,
    name: "details",
    inputSchema: Type.Object({ town: Type.String(), days: optional(Type.Integer()) }),
    run: ({ town, days }) => ({ output: town, details: { town, days } }),
  }),
  defineTool({
    ...PLAIN,
    name: "wrong_details",
    inputSchema: Type.Object({ town: Type.String() }),
    // @ts-expect-error a function is no JSON
    run: ({ town }) => ({ output: town, details: { town, again: () => town } }),
  }),
  defineTool({
    ...PLAIN,
    name: "wrong_parameter",
    inputSchema: Type.Object({ town: Type.String() }),
    // @ts-expect-error there is no such parameter
    run: ({ city }) => String(city),
  }),
  defineTool({
    ...PLAIN,
    name: "wrong_answer",
    inputSchema: z.object({ town: z.string() }),
    // @ts-expect-error a number is no answer
    run: ({ town }) => town.length,
  }),
  defineTool({
    ...PLAIN,
    name: "zod",
    inputSchema: z.object({ town: z.string().transform((town) => town.length), days: z.int().default(3) }),
    run: ({ town, days }) => {
      const both: number = town + days;
      return String(both);
    },
  }),
  defineTool<{ town: string }>({
    ...PLAIN,
    name: "plain",
    inputSchema: { type: "object", required: ["town"], properties: { town: { type: "string" } } },
    run: ({ town }) => town,
  }),
  defineTool<{ town: string }>({
    ...PLAIN,
    name: "wrong_plain",
    // @ts-expect-error the town is a text
    inputSchema: { type: "object", required: ["town"], properties: { town: { type: "number" } } },
    run: ({ town }) => town,
  }),
];

describe("an inputSchema of zod", () => {
  const WEATHER = z.object({
    town: z.string().min(1).describe("The town"),
    days: z.int().min(1).max(7).default(3),
    unit: z.enum(["c", "f"]).optional(),
    when: z.iso.date().nullish(),
    place: z.object({ country: z.string() }).optional(),
  });

  it("is sent to models as JSON Schema, refuses what it does not name, and gives its defaults", () => {
    const tool = defineTool({ ...PLAIN, name: "weather", inputSchema: WEATHER, run: ({ town, days }) => `${town} ${days}` });
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      required: ["town"],
      additionalProperties: false,
      properties: { town: { description: "The town" }, days: { type: "integer", maximum: 7, default: 3 } },
    });
    expect(JSON.stringify(tool.inputSchema)).not.toContain("$schema");
    expect(problems(tool, { town: "Ulm" })).toEqual([]);
    const bound = tool.bind({ town: "Ulm" });
    expect(bound.ok && bound.value.input).toEqual({ town: "Ulm", days: 3 });
    expect(problems(tool, { town: "Ulm", when: null, unit: "c" })).toEqual([]);
    for (const wrong of [
      {},
      { town: "" },
      { town: "Ulm", days: 8 },
      { town: "Ulm", more: 1 },
      { town: "Ulm", place: { city: "x" } },
    ])
      expect(problems(tool, wrong), JSON.stringify(wrong)).not.toEqual([]);
    for (const odd of [null, [], "Ulm", 7, { town: null }, { town: ["Ulm"] }, { town: { a: 1 } }, { town: "Ulm", days: 1e300 }])
      expect(problems(tool, odd), JSON.stringify(odd)).not.toEqual([]);
  });

  it("checks once more itself what JSON Schema cannot say, and run is given what it makes of it", async () => {
    const app = await startTestApp({
      config: {
        tools: [
          defineTool({
            ...PLAIN,
            name: "weather",
            inputSchema: z
              .object({ from: z.string().transform((day) => new Date(day)), list: z.array(z.string()), to: z.string() })
              .refine(({ from, to }) => from <= new Date(to), { message: "must not be before from", path: ["to"] })
              .refine(({ list }) => list[0] !== "bad", { message: "must be good", path: ["list", 0] }),
            run: ({ from, to }) => `from ${from.getUTCFullYear()} to ${to}`,
          }),
        ],
      },
      template: { permission: { mode: "auto" } },
      model: playedModel(
        () =>
          callsWith(
            ["weather", { from: "2026-01-02", to: "2026-01-01", list: ["bad"] }],
            ["weather", { from: "2026-01-02", to: "2026-01-03", list: [] }],
          ),
        () => says("Done."),
      ),
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const events = await client.turn(id, "go");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["FAILED", "COMPLETED"]);
    const [failed, done] = (await client.agent(id)).toolCalls.nodes;
    expect(failed?.output).toContain("/to: must not be before from");
    expect(failed?.output).toContain("/list/0: must be good");
    expect(done).toMatchObject({ output: "from 2026 to 2026-01-03" });
  });

  it("may not make another path or command line of what rules have judged", () => {
    const tool = defineTool({
      ...PLAIN,
      name: "read_it",
      inputSchema: z.object({ path: z.string().trim(), list: z.array(z.object({ line: z.string().toLowerCase() })).optional() }),
      paths: { path: "read" },
      commands: ["list[].line"],
      run: ({ path }) => path,
    });
    expect(problems(tool, { path: "a.txt", list: [{ line: "ls" }] })).toEqual([]);
    expect(problems(tool, { path: " .env" })).toEqual([expect.stringContaining("/path is made another by its schema")]);
    expect(problems(tool, { path: "a", list: [{ line: "RM x" }] })).toEqual([
      expect.stringContaining("/list[].line is made another"),
    ]);
  });

  it("takes what zod says in words of its own, and leaves patterns with flags to zod", () => {
    const tool = defineTool({
      ...PLAIN,
      name: "words",
      inputSchema: z.object({
        url: z.string().startsWith("https:").optional(),
        data: z.base64().optional(),
        token: z.jwt().optional(),
        name: z
          .string()
          .regex(/^[a-z-.]+$/i)
          .optional(),
        pair: z.tuple([z.string()], z.number()).optional(),
        shown: z.string().meta({ "x-ui": 1 }).optional(),
      }),
      run: ({ name }) => name ?? "",
    });
    expect(problems(tool, { url: "https://a", data: "YQ==", name: "ABC", pair: ["a", 1, 2], shown: "x" })).toEqual([]);
    for (const wrong of [{ url: "http://a" }, { data: "?" }, { token: "x" }, { name: "1" }, { pair: ["a", "b"] }])
      expect(problems(tool, wrong), JSON.stringify(wrong)).toHaveLength(1);
  });

  it("that no tool can have is refused with what to do", () => {
    const define = (inputSchema: object) => () =>
      defineTool({ ...PLAIN, name: "weather", inputSchema: inputSchema as typeof WEATHER, run: () => "" });
    expect(define(z.object({ when: z.date() }))).toThrow("cannot be said as JSON Schema (Date cannot be represented");
    expect(define(z.string())).toThrow('must have type "object"');
    const old = { "~standard": { version: 1, vendor: "zod", validate: () => ({}) } };
    expect(define(old)).toThrow("update the library (zod to 4.2 or later)");
    const throws = { validate: () => fail(), jsonSchema: { input: () => ({ type: "object" }) } };
    expect(problems(define({ "~standard": { version: 1, vendor: "own", ...throws } })(), {})).toEqual([
      "/ could not be checked by its schema: a bug of the author's",
    ]);
    const asynchronous = z.object({ town: z.string().refine(async () => Promise.resolve(true)) });
    expect(problems(define(asynchronous)(), { town: "Ulm" })).toEqual([
      expect.stringMatching(/is checked asynchronously|Encountered Promise/),
    ]);
  });
});

it("a tool may answer a text alone, and have one hook in the place of a list", async () => {
  const seen: string[] = [];
  const tool = defineTool({
    ...PLAIN,
    name: "weather",
    inputSchema: Type.Object({ town: Type.String() }),
    hooks: {
      preToolUse: ({ name }) => void seen.push(`own ${name}`),
      postToolUse: (_call, { output }) => void seen.push(output),
    },
    run: ({ town }) => `It rains in ${town}.`,
  });
  const app = await startTestApp({
    config: { tools: [tool], hooks: { preToolUse: ({ name }) => void seen.push(`all ${name}`) } },
    template: {
      permission: { mode: "auto" },
      hooks: { postToolUse: { run: (_call, { details }) => void seen.push(JSON.stringify(details)) } },
    },
    model: playedModel(
      () => callsWith(["weather", { town: "Ulm" }]),
      () => says("Done."),
    ),
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED", output: "It rains in Ulm." }]);
  expect(seen).toEqual(["own weather", "all weather", "It rains in Ulm.", "null"]);
});

describe("parameters named as methods of objects", () => {
  const text = { type: "string" } as const;
  const tool = defineTool<{ readonly constructor: string; readonly toString: string; readonly city: string }>({
    ...PLAIN,
    name: "own",
    inputSchema: {
      type: "object",
      required: ["constructor", "toString", "city"],
      properties: { constructor: text, toString: text, city: text },
    },
    aliases: { make: "constructor", town: "city" },
    run: (input) => Object.entries(input).flat().join(" "),
  });

  it.each([
    [{ constructor: "a", toString: "b", city: "c" }, "constructor a toString b city c"],
    [{ constructor: "a", toString: "b", town: "c" }, "constructor a toString b city c"],
    [{ make: "a", toString: "b", town: "c" }, "constructor a toString b city c"],
    [{ toString: "b", city: "c" }, "must have required property 'constructor'"],
    [{ make: "a", toString: {}, city: "c" }, "/toString: must be string; received {}"],
  ])("are no aliases, have aliases, and may be missing: %j", async (input, output) => {
    const model = playedModel(
      () => callsWith(["own", input]),
      () => says("Done."),
    );
    const app = await startTestApp({ config: { tools: [tool] }, template: { permission: { mode: "auto" } }, model });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ output: expect.stringContaining(output) }]);
  });
});
