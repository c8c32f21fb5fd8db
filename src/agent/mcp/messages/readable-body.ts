import { isJsonObject, type Json } from "../../../lib/json.ts";
import { repairResponse } from "./kept-answer.ts";

const NEWLINE = 0x0a;
const DATA = Buffer.from("data:");

/** A body of JSON, whose responses have the form of JSON-RPC. The SDK reads no other. */
export function readableJson(): TransformStream<Uint8Array, Uint8Array> {
  const pieces: Uint8Array[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush: (controller) => controller.enqueue(repaired(Buffer.concat(pieces))),
  });
}

/** A stream of events, each with a response on one line of the form of JSON-RPC. */
export function readableEvents(): TransformStream<Uint8Array, Uint8Array> {
  let line: Uint8Array[] = [];
  const end = (): Buffer => {
    const whole = Buffer.concat(line);
    line = [];
    return whole.subarray(0, DATA.length).equals(DATA) ? Buffer.concat([DATA, repaired(whole.subarray(DATA.length))]) : whole;
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        line.push(chunk.subarray(from, at));
        controller.enqueue(Buffer.concat([end(), Buffer.of(NEWLINE)]));
        from = at + 1;
      }
      if (from < chunk.length) line.push(chunk.subarray(from));
    },
    flush: (controller) => controller.enqueue(end()),
  });
}

/** A text that is no JSON stays as it is: the SDK has an error for it. */
function repaired(text: Buffer): Buffer {
  try {
    const read = JSON.parse(text.toString()) as Json;
    const messages = Array.isArray(read) ? (read as readonly Json[]) : [read];
    for (const message of messages) if (isJsonObject(message)) repairResponse(message);
    return Buffer.from(JSON.stringify(read));
  } catch {
    return text;
  }
}
