import { Type } from "typebox";
import { closed } from "../../lib/setting.ts";
import { counted } from "../../lib/text.ts";
import { OUTPUT } from "./limits.ts";
import { defineTool, optional } from "./tool.ts";

/** The room of the line that says how to read on, in bytes. */
const NOTE_BYTES = 512;

export const readOutput = defineTool({
  name: "read_output",
  description:
    "Reads the output of an earlier tool call of yours again, if it was left out to make room or was too long. Give the id of the call.",
  readOnly: true,
  idempotent: true,
  inputSchema: closed({
    call: Type.String({ minLength: 1, maxLength: 200, description: "The id of the call." }),
    offset: optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Byte offset to read from; 0 if left out." }),
    ),
    limit: optional(Type.Integer({ minimum: 1, maximum: OUTPUT.bytes, description: "The most bytes to read." })),
  }),
  async run({ call, offset, limit }, { earlierOutput }) {
    const from = offset ?? 0;
    const bytes = Math.min(limit ?? OUTPUT.bytes, OUTPUT.bytes - NOTE_BYTES);
    const read = await earlierOutput(call, { offset: from, bytes });
    if (read === null) throw new Error(`you have made no call ${call}: give the id of one of your earlier calls`);
    const { text, total, next, isWhole } = read;
    const details = { call, offset: from, next_offset: next, outputBytes: total, isWhole };
    if (text === null) return { output: `[the call ${call} has no output${isWhole ? "" : " any more"}]`, details };
    const end = next === null ? "all" : `${counted(total - next, "more byte")}, read on with offset ${next}`;
    const note = `[${end}${isWhole ? "" : "; this server has only the part that you have seen"}]`;
    return { output: `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${note}`, details };
  },
});
