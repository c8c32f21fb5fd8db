import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicModel, type AnthropicThinking } from "../../../src/agent/models/anthropic.ts";
import type { WrittenCompatibility } from "../../../src/agent/models/chat-request.ts";
import { MODEL_CALL_SETTINGS, type ModelCallSettings } from "../../../src/agent/models/model-settings.ts";
import type { Model, ModelEvent, ModelRequest } from "../../../src/agent/models/model.ts";
import { openAiModel } from "../../../src/agent/models/openai.ts";
import { strictSchema } from "../../../src/agent/models/shapes/strict-schema.ts";
import type { Json, JsonObject } from "../../../src/lib/json.ts";
import { complete } from "../../../src/lib/setting.ts";
import { answers, type StreamBlock } from "../../support/providers/anthropic-stream.ts";
import { chat, type Delta } from "../../support/providers/openai-stream.ts";
import { providerServer } from "../../support/providers/provider-server.ts";
import { completionsRefusal, messagesRefusal, schemaRefusal } from "../../support/providers/strict-shapes.ts";

type Body = Readonly<Record<string, unknown>>;

const WEATHER: JsonObject = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    degrees: { type: "number", minimum: -90 },
    sky: { enum: ["clear", "grey"] },
  },
  required: ["city", "degrees", "sky"],
};
const WITH_OPTIONAL: JsonObject = { ...WEATHER, required: ["city"] };
const RECURSIVE: JsonObject = {
  type: "object",
  properties: { name: { type: "string" }, parts: { type: "array", items: { $ref: "#" } } },
  required: ["name"],
};

const TOOL = { name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } };

function requestFor(shape: JsonObject | null, tools: ModelRequest["tools"] = [TOOL]): ModelRequest {
  const messages = [{ role: "user", content: [{ type: "text", text: "How is it?" }] }] as const;
  return { system: "s", messages, tools, exposeThinking: false, settings: {}, isFirstOfTurn: true, shape };
}

async function answerOf(model: Model, request: ModelRequest): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, AbortSignal.timeout(20_000), () => {})) events.push(event);
  return events;
}

function textIn(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

async function claude(
  blocks: readonly StreamBlock[],
  stop: string,
  { thinking = null, settings = {} }: { thinking?: AnthropicThinking; settings?: Partial<ModelCallSettings> } = {},
) {
  const { url, requests } = await providerServer<Body>([answers(blocks, stop)], { refusal: messagesRefusal });
  const own = { ...complete(MODEL_CALL_SETTINGS, {}), ...settings };
  const model = anthropicModel({
    apiKey: "k",
    baseUrl: url,
    model: "c",
    maxTokens: 4_000,
    thinking,
    price: null,
    window: null,
    settings: own,
  });
  return { model, requests };
}

async function completions(deltas: readonly Delta[], finish: string, compat: WrittenCompatibility) {
  const { url, requests } = await providerServer<Body>([chat(deltas, finish)], { refusal: completionsRefusal });
  const settings = complete(MODEL_CALL_SETTINGS, {});
  const model = openAiModel({
    apiKey: "k",
    baseUrl: `${url}/v1`,
    model: "m",
    maxTokens: null,
    price: null,
    window: null,
    compat,
    settings,
  });
  return { model, requests };
}

const toolNames = (body: Body | undefined): readonly Json[] =>
  ((body?.["tools"] ?? []) as readonly JsonObject[]).map(
    (tool) => (tool["function"] as JsonObject | undefined)?.["name"] ?? tool["name"] ?? null,
  );

describe("Claude, asked for a shape", () => {
  const json = '{"city":"Ulm","degrees":7,"sky":"grey"}';

  it("is sent a schema that the provider enforces, beside effort and the tools of the agent", async () => {
    const { model, requests } = await claude([{ text: ['{"city":"Ulm",', '"degrees":7,"sky":"grey"}'] }], "end_turn", {
      thinking: "adaptive",
      settings: { effort: "low" },
    });
    const events = await answerOf(model, requestFor(WITH_OPTIONAL));
    expect(textIn(events)).toBe(json);
    expect(events.filter(({ type }) => type === "text_delta")).toHaveLength(2);
    expect(requests[0]?.body).toMatchObject({
      output_config: {
        effort: "low",
        format: { type: "json_schema", schema: { additionalProperties: false, required: ["city"] } },
      },
      thinking: { type: "adaptive" },
    });
    expect(toolNames(requests[0]?.body)).toEqual(["look"]);
    expect(requests[0]?.body).not.toHaveProperty("tool_choice");
  });

  it("answers by a tool where the provider could not enforce the schema, and the tool's input is its text", async () => {
    const input = '{"name":"a","parts":[]}';
    const blocks = [{ tool: "answer", id: "toolu_a", json: [input] }];
    const { model, requests } = await claude(blocks, "tool_use");
    const events = await answerOf(model, requestFor(RECURSIVE));
    expect(textIn(events)).toBe(input);
    expect(events.at(-1)).toMatchObject({ type: "end", stopReason: "end_turn" });
    expect(events.some(({ type }) => type === "tool_use")).toBe(false);
    expect(toolNames(requests[0]?.body)).toEqual(["look", "answer"]);
    expect(requests[0]?.body).toMatchObject({ tool_choice: { type: "any" } });
    const alone = await claude(blocks, "tool_use", { settings: { toolChoice: "none" } });
    await answerOf(alone.model, requestFor(RECURSIVE, []));
    expect(alone.requests[0]?.body).toMatchObject({ tool_choice: { type: "tool", name: "answer" } });
  });

  it("is not made to call the tool while it thinks, which the provider refuses", async () => {
    for (const toolChoice of [null, "none"] as const) {
      const { model, requests } = await claude([{ text: ['{"name":"a"}'] }], "end_turn", {
        thinking: "adaptive",
        settings: { toolChoice },
      });
      expect(textIn(await answerOf(model, requestFor(RECURSIVE)))).toBe('{"name":"a"}');
      expect(requests[0]?.body).not.toHaveProperty("tool_choice");
    }
  });

  it("goes on if it calls another tool beside the answer, and names the tool otherwise if the agent has one of its name", async () => {
    const own = { ...TOOL, name: "answer" };
    const blocks = [
      { tool: "answer", id: "toolu_a", json: ["{}"] },
      { tool: "answer_2", id: "toolu_b", json: ['{"name":"a"}'] },
    ];
    const { model, requests } = await claude(blocks, "tool_use");
    const events = await answerOf(model, requestFor(RECURSIVE, [own]));
    expect(toolNames(requests[0]?.body)).toEqual(["answer", "answer_2"]);
    expect(events.filter(({ type }) => type === "tool_use")).toMatchObject([{ name: "answer" }]);
    expect(events.at(-1)).toMatchObject({ stopReason: "tool_use" });
  });
});

describe("a chat completions server, asked for a shape", () => {
  it("gets an enforced schema if each field is required, and the schema as it is otherwise", async () => {
    const answer = [{ content: "{}" }];
    const enforced = await completions(answer, "stop", { shapes: "json_schema" });
    await answerOf(enforced.model, requestFor(WEATHER));
    expect(enforced.requests[0]?.body).toMatchObject({
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema: { additionalProperties: false } },
      },
    });
    for (const shape of [WITH_OPTIONAL, RECURSIVE]) {
      const open = await completions(answer, "stop", { shapes: "json_schema" });
      await answerOf(open.model, requestFor(shape));
      expect(open.requests[0]?.body).toMatchObject({
        response_format: { json_schema: { strict: false, schema: { type: "object" } } },
      });
    }
  });

  it("refuses in a field of its own, which ends the answer as a refusal", async () => {
    const { model } = await completions([{ refusal: "I cannot" }, { refusal: " do that." }], "stop", { shapes: "json_schema" });
    expect((await answerOf(model, requestFor(WEATHER))).at(-1)).toMatchObject({ type: "end", stopReason: "refusal" });
    const plain = await completions([{ refusal: "I cannot." }], "stop", {});
    expect((await answerOf(plain.model, requestFor(null))).at(-1)).toMatchObject({ stopReason: "end_turn" });
  });

  it("gets a tool if it is none of OpenAI, since many servers have either tools or a format", async () => {
    const call = { index: 0, id: "a", function: { name: "answer", arguments: '{"city":"Ulm"}' } };
    const { model, requests } = await completions([{ tool_calls: [call] }], "tool_calls", {});
    const events = await answerOf(model, requestFor(WEATHER));
    expect(textIn(events)).toBe('{"city":"Ulm"}');
    expect(events.at(-1)).toMatchObject({ stopReason: "end_turn" });
    expect(requests[0]?.body).toMatchObject({ tool_choice: "required" });
    expect(requests[0]?.body).not.toHaveProperty("response_format");
  });
});

describe("a schema that providers enforce", () => {
  const leaf: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
    { type: "string", format: "email", maxLength: 3 },
    { type: ["string", "null"], pattern: "a" },
    { type: "integer", minimum: 1, description: "One." },
    { enum: ["a", 1, null] },
    { const: true },
    { $ref: "#" },
    { $ref: "#/properties/a" },
    {},
    { type: "object" },
    { type: "array", items: [{ type: "string" }] },
    { not: { type: "string" } },
    { type: "string", "x-own": 1, title: "T", default: "" },
  );
  const { schema } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      tie("object"),
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    ),
    object: fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "c"), tie("schema"), { maxKeys: 3 }),
        required: fc.subarray(["a", "b", "c"]),
        additionalProperties: fc.constantFrom<Json>(true, false, { type: "string" }),
      },
      { requiredKeys: ["type", "properties"] },
    ),
  }));

  it("is accepted by both providers, or there is none", () => {
    let strict = 0;
    fc.assert(
      fc.property(schema, (given) => {
        const made = strictSchema({ ...given });
        if (made === null) return;
        strict += 1;
        expect(schemaRefusal(made.schema, !made.hasOptional)).toBeNull();
      }),
      { numRuns: 2_000 },
    );
    expect(strict).toBeGreaterThan(200);
  });

  it("keeps what it cannot enforce as words, and follows references", () => {
    const given: JsonObject = {
      type: "object",
      properties: { mail: { $ref: "#/$defs/mail", description: "Theirs." } },
      required: ["mail"],
      $defs: { mail: { type: "string", format: "email", maxLength: 80 } },
    };
    expect(strictSchema(given)).toEqual({
      hasOptional: false,
      schema: {
        type: "object",
        properties: { mail: { type: "string", description: 'Theirs. (format: "email", maxLength: 80)' } },
        required: ["mail"],
        additionalProperties: false,
      },
    });
  });

  it("has bounds: references that multiply, optional fields and alternatives", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, level) => [
        `d${level}`,
        {
          type: "object",
          properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } },
          required: ["a", "b"],
        },
      ]),
    );
    const bomb: JsonObject = { ...defs["d0"], $defs: { ...defs, d20: { type: "string" } } };
    expect(strictSchema(bomb)).toBeNull();
    const fields = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${index}`, { type: "string" }]));
    expect(strictSchema({ type: "object", properties: fields })).toBeNull();
  });
});
