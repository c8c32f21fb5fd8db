import { frame, inPieces, type Manner } from "../played-model.ts";
import { callingAnswers, schemasIn } from "./messages.ts";

/**
 * Gemini's compatible endpoint, as noho/dayu-agent #45 and #91, googleapis/python-genai #2868, opensquilla #225 and zed #44875 tell: calls
 * without an index, signatures beside them that must come back with the first call of an answer, `stop` in the place of `tool_calls`,
 * errors in a list, and unknown keywords of schemas refused.
 */
export const gemini: Manner = {
  model: "gemini-3-flash-preview",
  refuses: (body) => {
    const refused = (message: string) => ({ status: 400, body: [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }] });
    const unsigned = callingAnswers(body).some(
      ({ tool_calls }) => !JSON.stringify((tool_calls as readonly unknown[])[0]).includes('"thought_signature":"EjQKMgEM'),
    );
    if (unsigned) return refused("Function call is missing a thought_signature in functionCall parts.");
    return schemasIn(body).includes('"$ref"')
      ? refused(
          "Invalid JSON payload received. Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
        )
      : null;
  },
  frames: ({ text, calls }) => {
    const base = { created: 1_777_190_000, id: "P2FaaerLKrF0", model: "gemini-3-flash-preview", object: "chat.completion.chunk" };
    const chunk = (delta: object, more: object = {}): string =>
      frame({ choices: [{ delta: { role: "assistant", ...delta }, index: 0, ...more }], ...base });
    return [
      ...inPieces(text, 40).map((content) => chunk({ content })),
      ...calls.map(({ name, input }, place) =>
        chunk({
          tool_calls: [
            {
              ...(place === 0 ? { extra_content: { google: { thought_signature: "EjQKMgEMOdbHJChL" } } } : {}),
              function: { arguments: JSON.stringify(input), name },
              id: place === 0 ? "jm4owj31" : "",
              type: "function",
            },
          ],
        }),
      ),
      chunk({}, { finish_reason: "stop" }),
      frame({ choices: [], ...base, usage: { completion_tokens: 2, prompt_tokens: 5, total_tokens: 7 } }),
      "data: [DONE]\n\n",
    ];
  },
};
