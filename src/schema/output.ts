import { MOST_BYTES, type OutputPiece as Piece } from "../agent/calls/outputs.ts";
import type { BlockOf } from "../resolvers/message.ts";
import { outputPiece } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { ImageType } from "./enums.ts";

const OutputPiece = builder.objectRef<Piece>("OutputPiece").implement({
  description: "A piece of a complete output.",
  fields: (t) => ({
    text: t.exposeString("text", { description: "Text of the piece. It never ends within a character." }),
    nextOffset: t.exposeInt("nextOffset", {
      nullable: true,
      description: "Offset of the next piece in bytes. Null at the end of the output.",
    }),
  }),
});

export const KeptOutput = builder.objectRef<{ readonly callId: string; readonly bytes: number }>("KeptOutput").implement({
  description: "The complete output of a call of which the model read only a part. It is a file on the server that ran the call.",
  fields: (t) => ({
    bytes: t.exposeInt("bytes", { description: "Size of the file in bytes." }),
    isWhole: t.boolean({
      description: "False if the output exceeded 64 MB, so that the file has only a part of it.",
      resolve: ({ bytes }) => bytes < MOST_BYTES,
    }),
    piece: t.field({
      type: OutputPiece,
      nullable: true,
      complexity: 10,
      description: "A piece of the output, at most 256 KB. Null if another server has the file, or if it was removed.",
      args: {
        offset: t.arg.int({ defaultValue: 0, description: "Offset in bytes, from 0." }),
        bytes: t.arg.int({ defaultValue: 65_536, description: "Maximum size in bytes, 4 to 262,144." }),
      },
      resolve: ({ callId }, { offset, bytes }, context) => outputPiece(context, callId, offset ?? 0, bytes ?? 65_536),
    }),
  }),
});

export const ImageBlock = builder.objectRef<BlockOf<"image">>("ImageBlock").implement({
  description: "A block with an image.",
  fields: (t) => ({
    mediaType: t.expose("mediaType", { type: ImageType, description: "File type of the image." }),
    bytes: t.exposeInt("bytes", { description: "Size in bytes." }),
    isRemoved: t.boolean({
      description: "True if the image was removed. Then `viewerUrl` answers 404, and the model reads a note in its place.",
      resolve: ({ isRemoved }, _args, context) => isRemoved(context),
    }),
    viewerUrl: t.string({
      description:
        "Path of the image on this server, for an `<img>`. It is signed for the viewer and valid for 4 to 5 minutes, without other credentials: keep it secret and query it again later.",
      resolve: ({ url }, _args, context) => url(context),
    }),
  }),
});
