import { deleteMemory, eraseMemory, memoryEntryByRow, writeMemory } from "../../resolvers/memory.ts";
import { builder } from "../builder.ts";
import { MemoryEntry } from "../memory.ts";
import { payloadType } from "../payload.ts";

function memoryPayload(name: string) {
  return payloadType(name, (t) => ({
    entry: t.prismaField({
      type: MemoryEntry,
      nullable: true,
      description: "The entry. Null if the mutation failed.",
      resolve: (query, { rowId }, _args, context) => memoryEntryByRow(context, rowId, query),
    }),
  }));
}

const WriteMemoryInput = builder.inputType("WriteMemoryInput", {
  description: "Input of `writeMemory`.",
  fields: (t) => ({
    templateId: t.id({ required: true, description: "`templateId` of the template whose agents have the memory." }),
    requesterId: t.id({
      description:
        "Actor whose memory it is, given by `ActorRef.id` or `actorId`. The viewer's own if omitted. It has no meaning if all agents of the template share a memory.",
    }),
    path: t.string({ required: true, description: "Path, for example `/memories/notes.md`." }),
    text: t.string({ required: true, description: "The whole text, at most 64 KB. Control characters are left out." }),
    expectedVersion: t.int({ required: true, description: "Version of the entry that the viewer has read; 0 for a new entry." }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same entry. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

builder.mutationField("writeMemory", (t) =>
  t.field({
    type: memoryPayload("WriteMemoryPayload"),
    description:
      "Writes an entry of memory: a new one, or the text of one that is there. Its lineage is PERSON. FORBIDDEN for the memory of others, unless the viewer is an administrator. CONFLICT for another version. TOO_LARGE at the limits of a memory.",
    args: { input: t.arg({ type: WriteMemoryInput, required: true, description: "Path, text and version." }) },
    resolve: (_root, { input }, context) =>
      writeMemory(context, {
        ...input,
        requesterId: input.requesterId ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const DeleteMemoryInput = builder.inputType("DeleteMemoryInput", {
  description: "Input of `deleteMemory`.",
  fields: (t) => ({
    entryId: t.id({ required: true, description: "`id` of the entry." }),
    expectedVersion: t.int({ description: "Version that the viewer has read. The present one if omitted." }),
  }),
});

builder.mutationField("deleteMemory", (t) =>
  t.field({
    type: memoryPayload("DeleteMemoryPayload"),
    description:
      "Deletes an entry of memory. Its former versions are kept for 30 days. Deleting it again has no effect. CONFLICT for another version.",
    args: { input: t.arg({ type: DeleteMemoryInput, required: true, description: "Entry." }) },
    resolve: (_root, { input }, context) => deleteMemory(context, input.entryId, input.expectedVersion ?? null),
  }),
);

const EraseMemoryInput = builder.inputType("EraseMemoryInput", {
  description: "Input of `eraseMemory`.",
  fields: (t) => ({ entryId: t.id({ required: true, description: "`id` of the entry." }) }),
});

builder.mutationField("eraseMemory", (t) =>
  t.field({
    type: memoryPayload("EraseMemoryPayload"),
    description:
      "Erases the texts of an entry and of all its former versions. The entry is deleted. Calls and messages with its text stay as they are.",
    args: { input: t.arg({ type: EraseMemoryInput, required: true, description: "Entry." }) },
    resolve: (_root, { input }, context) => eraseMemory(context, input.entryId),
  }),
);
