import type { MemoryLineage as Lineage } from "../../db/commit/memory-change.ts";
import type { MemoryAction as Action } from "../../events/memory-event.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
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

export const MemoryLineage = builder.enumType("MemoryLineage", {
  description: "Origin of a text in memory. A text of several origins has the least trusted of them.",
  values: described<Lineage>({
    PERSON: "A person wrote it.",
    MODEL: "A model wrote it.",
    OUTSIDE: "A model wrote it after an agent of its tree had read text from outside, such as a result of an MCP tool.",
  }),
});

eventType("MEMORY_CHANGED").implement({
  description: "Memory changed. `agent` is the agent whose call changed it; null if a person did. The event has no text.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    templateId: t.id({ description: "Template whose agents have the memory.", resolve: ({ body }) => body.templateId }),
    requesterId: t.string({
      nullable: true,
      description: "Id of the actor whose agents share it. Null if all agents of the template do.",
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
