import type { MemoryAction as Action } from "../../events/memory-event.ts";
import { ActorRef } from "../actor.ts";
import { globalId } from "../../lib/global-id.ts";
import { changedEntry } from "../../resolvers/memory.ts";
import { builder, described } from "../builder.ts";
import { MemoryEntry, MemoryLineage } from "../memory.ts";
import { eventType, TimelineEvent } from "./event.ts";

const MemoryAction = builder.enumType("MemoryAction", {
  description: "A change of memory.",
  values: described<Action>({
    CREATED: "An entry was created.",
    CHANGED: "The text of an entry was changed.",
    RENAMED: "An entry, or all entries of a folder, have another path.",
    DELETED: "An entry, or all entries of a folder, were deleted. Their former versions are kept for a time.",
    ERASED: "The texts of an entry and of its former versions were erased.",
  }),
});

eventType("MEMORY_CHANGED").implement({
  description: "Memory changed. `agent` is the agent whose call changed it; null if a person did. The event has no text.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    templateId: t.id({ description: "Template whose agents have the memory.", resolve: ({ body }) => body.templateId }),
    requesterId: t.id({
      nullable: true,
      description: "`actorId` of the actor whose agents share it. Null if all agents of the template do.",
      resolve: ({ body }) => body.requesterId,
    }),
    memoryAction: t.field({ type: MemoryAction, description: "The change.", resolve: ({ body }) => body.memoryAction }),
    memoryPath: t.string({
      description: "Path of the entry, or of the folder of all changed entries.",
      resolve: ({ body }) => body.path,
    }),
    newMemoryPath: t.string({
      nullable: true,
      description: "New path. Null unless it was renamed.",
      resolve: ({ body }) => body.newPath,
    }),
    entryCount: t.int({ description: "Number of changed entries.", resolve: ({ body }) => body.entryCount }),
    entryId: t.id({
      nullable: true,
      description: "`id` of the entry. Null for a folder.",
      resolve: ({ body }) => (body.entryId === null ? null : globalId("MemoryEntry", body.entryId)),
    }),
    entry: t.prismaField({
      type: MemoryEntry,
      nullable: true,
      description: "The entry as it is now. Null for a folder, if it was removed, or if all agents of the template share it.",
      resolve: (query, { body }, _args, context) => changedEntry(context, body.entryId, query),
    }),
    memoryVersion: t.int({
      nullable: true,
      description: "Version of the entry after the change. Null for a folder.",
      resolve: ({ body }) => body.version,
    }),
    memoryBytes: t.int({
      nullable: true,
      description: "Bytes of the entry after the change. Null for a folder.",
      resolve: ({ body }) => body.bytes,
    }),
    lineage: t.field({
      type: MemoryLineage,
      nullable: true,
      description: "Origin of the text. Null for a folder.",
      resolve: ({ body }) => body.lineage,
    }),
    callId: t.id({
      nullable: true,
      description: "`callId` of the call that made the change. Null if a person did.",
      resolve: ({ body }) => body.callId,
    }),
    changedBy: t.field({ type: ActorRef, description: "Actor that made the change.", resolve: ({ body }) => body.changedBy }),
  }),
});
