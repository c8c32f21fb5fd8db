import { Type } from "typebox";
import { closed, type Written } from "../../lib/setting.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ModelCallSettings } from "./model-settings.ts";
import type { ContentBlock, ModelMessage, ModelRequest } from "./model.ts";
import { objectIn } from "./odd-values.ts";

/** Parts of requests that some models refuse. Without a setting the provider is asked. */
const CAPABILITIES = {
  /** Whether `effort` is sent. */
  effort: Type.Optional(Type.Boolean()),
  /** Whether the schema of an answer is sent. Otherwise the answer is the input of a tool. */
  structuredOutputs: Type.Optional(Type.Boolean()),
  /** Whether images are sent. Otherwise a note takes their place. */
  imageInput: Type.Optional(Type.Boolean()),
};
export const CAPABILITY_SETTINGS = closed(CAPABILITIES);

export type CapabilitySettings = Written<typeof CAPABILITIES>;

/** Null or absent is unknown: the part is sent. `efforts` are the levels that are accepted. */
export type Capabilities = {
  readonly efforts: readonly string[] | null;
  readonly structuredOutputs: boolean | null;
  readonly imageInput: boolean | null;
};

const UNKNOWN: Capabilities = { efforts: null, structuredOutputs: null, imageInput: null };

/** The time for which the first call waits for the provider's answer, and after which a failed question is repeated, in ms. */
const ANSWER_MS = 3_000;
const AGAIN_MS = DAY_MS / 24;

/** The capabilities of a model: those of the configuration, then those that its provider states, asked once a day. */
export class AskedCapabilities {
  readonly #given: CapabilitySettings;
  readonly #ask: (signal: AbortSignal) => Promise<unknown>;
  #said: Promise<Capabilities> = Promise.resolve(UNKNOWN);
  #askAfter = 0;

  constructor(given: CapabilitySettings, ask: (signal: AbortSignal) => Promise<unknown>) {
    this.#given = given;
    this.#ask = ask;
  }

  /** Those that matter to this request. The provider is asked only about a part that the configuration leaves open. */
  async for(request: ModelRequest, { effort }: Pick<ModelCallSettings, "effort">): Promise<Capabilities> {
    const given = this.#given;
    const isOpen =
      (effort !== null && given.effort === undefined) ||
      (request.shape !== null && given.structuredOutputs === undefined) ||
      (given.imageInput === undefined && request.messages.some(({ content }) => content.some(({ type }) => type === "image")));
    const said = isOpen ? await this.#asked() : UNKNOWN;
    return {
      efforts: given.effort === undefined ? said.efforts : given.effort ? null : [],
      structuredOutputs: given.structuredOutputs ?? said.structuredOutputs,
      imageInput: given.imageInput ?? said.imageInput,
    };
  }

  /** Only the first call waits for the answer: later ones have the last one until the next is there. */
  #asked(): Promise<Capabilities> {
    if (Date.now() < this.#askAfter) return this.#said;
    const isFirst = this.#askAfter === 0;
    this.#askAfter = Date.now() + DAY_MS;
    const before = this.#said;
    const said = this.#ask(AbortSignal.timeout(ANSWER_MS)).then(statedIn, () => {
      // Servers without this endpoint keep what is known.
      this.#askAfter = Date.now() + AGAIN_MS;
      return before;
    });
    if (isFirst) this.#said = said;
    else void said.then(() => (this.#said = said));
    return this.#said;
  }
}

/** The capabilities in the provider's description of a model. */
function statedIn(told: unknown): Capabilities {
  const capabilities = objectIn(objectIn(told)["capabilities"]);
  const effort = objectIn(capabilities["effort"]);
  const levels = Object.keys(effort).filter((level) => isSupported(effort[level]) === true);
  return {
    efforts: isSupported(effort) === null ? null : isSupported(effort) === true ? levels : [],
    structuredOutputs: isSupported(capabilities["structured_outputs"]),
    imageInput: isSupported(capabilities["image_input"]),
  };
}

function isSupported(told: unknown): boolean | null {
  const { supported } = objectIn(told);
  return typeof supported === "boolean" ? supported : null;
}

const WITHOUT_IMAGE: ContentBlock = { type: "text", text: "[An image is left out: this model reads no images.]" };

/** The messages as a model reads them that may read no images. */
export function readable(messages: readonly ModelMessage[], { imageInput }: Capabilities): readonly ModelMessage[] {
  if (imageInput !== false) return messages;
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => (block.type === "image" ? WITHOUT_IMAGE : block)),
  }));
}
