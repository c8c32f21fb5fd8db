import { MEMORY, MEMORY_LINEAGES, type MemoryLineage as Lineage } from "../db/commit/memory-change.ts";
import type { ActorKind } from "../db/generated/enums.ts";
import type { ActorRef as Actor } from "../events/snapshots.ts";
import { memoryEntries } from "../resolvers/memory.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { builder, connectionOf, described, nodesSelection } from "./builder.ts";
import { entries } from "./price.ts";
import { ToolCall } from "./tool-call.ts";

export const MemoryLineage = builder.enumType("MemoryLineage", {
  description: "Origin of a text in memory. A text of several origins has the least trusted of them.",
  values: described<Lineage>({
    PERSON: "A person wrote it.",
    MODEL: "A model wrote it.",
    OUTSIDE: "A model wrote it after an agent of its tree had read text from outside, such as a result of an MCP tool.",
  }),
});

function lineageOf({ lineage }: { readonly lineage: string }): Lineage {
  return MEMORY_LINEAGES.find((known) => known === lineage) ?? "OUTSIDE";
}

type Written = { readonly writtenBy: string | null; readonly writtenByKind: ActorKind | null };

function writerOf({ writtenBy, writtenByKind }: Written): Actor | null {
  return writtenBy === null || writtenByKind === null ? null : { id: writtenBy, kind: writtenByKind };
}

builder.prismaObject("MemoryVersion", {
  description: "A former state of an entry of memory.",
  fields: (t) => ({
    version: t.exposeInt("version", { description: "Number of the version." }),
    path: t.exposeString("path", { description: "Path of the entry then." }),
    text: t.exposeString("text", { nullable: true, description: "Text of the entry then. Null if it was erased." }),
    bytes: t.exposeInt("bytes", { description: "Bytes of the text." }),
    lineage: t.field({
      type: MemoryLineage,
      description: "Origin of the text.",
      select: { lineage: true },
      resolve: lineageOf,
    }),
    writtenBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that wrote it. Null if a call did.",
      select: { writtenBy: true, writtenByKind: true },
      resolve: writerOf,
    }),
    call: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "Call that wrote it. Null if a person did.",
      select: { callId: true },
      resolve: (query, { callId }, _args, context) => (callId === null ? null : toolCallByRow(context, callId, query)),
    }),
    writtenAt: t.expose("at", { type: "DateTime", description: "Time at which it was written." }),
    replacedAt: t.expose("replacedAt", { type: "DateTime", description: "Time at which another state took its place." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of erasure. Null if it has its text.",
    }),
  }),
});

export const MemoryEntry = builder.prismaNode("MemoryEntry", {
  id: { field: "id", description: "Relay id of the entry." },
  description: "An entry of the memory of a template's agents: a text by its path.",
  fields: (t) => ({
    templateId: t.exposeID("templateId", { description: "Template whose agents have the memory." }),
    requesterId: t.id({
      nullable: true,
      description: "`actorId` of the actor whose agents share it. Null if all agents of the template do.",
      select: { requester: true },
      resolve: ({ requester }) => (requester === "" ? null : requester),
    }),
    path: t.exposeString("path", { description: "Path, for example `/memories/notes.md`." }),
    text: t.exposeString("text", { nullable: true, description: "Text, at most 64 KB. Null if the entry is deleted." }),
    bytes: t.exposeInt("bytes", { description: "Bytes of the text." }),
    version: t.exposeInt("version", { description: "Version, from 1. Each change counts, and so does a deletion." }),
    lineage: t.field({
      type: MemoryLineage,
      description: "Origin of the text.",
      select: { lineage: true },
      resolve: lineageOf,
    }),
    writtenBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that made the latest change. Null if a call did.",
      select: { writtenBy: true, writtenByKind: true },
      resolve: writerOf,
    }),
    call: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "Call that made the latest change. Null if a person did.",
      select: { callId: true },
      resolve: (query, { callId }, _args, context) => (callId === null ? null : toolCallByRow(context, callId, query)),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Creation time." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Time of the latest change." }),
    deletedAt: t.expose("deletedAt", { type: "DateTime", nullable: true, description: "Time of deletion. Null if it is there." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which its texts were erased. Null if they were not.",
    }),
    versions: t.relation("versions", {
      description: `Former versions, newest first, at most ${MEMORY.versions}. Each is removed 30 days after its replacement.`,
      complexity: entries(MEMORY.versions),
      query: { orderBy: { version: "desc" }, take: MEMORY.versions },
    }),
  }),
});

builder.queryField("memory", (t) =>
  t.connection(
    {
      type: MemoryEntry,
      description:
        "Entries of the memory of a template's agents, by requester and path. Viewers see their own memory, those who may read the tenant (READ_TENANT) all of it.",
      args: {
        templateId: t.arg.id({ required: true, description: "`templateId` of the template." }),
        requesterId: t.arg.id({
          description:
            "Entries of this requester, given by `ActorRef.id` or `actorId`. Of all that the viewer may see if omitted.",
        }),
        isDeleted: t.arg.boolean({ description: "True for deleted entries, which are kept for 30 days. False if omitted." }),
      },
      resolve: (_root, args, context, info) => memoryEntries(context, args, nodesSelection(context, info)),
    },
    connectionOf("MemoryEntry", MemoryEntry),
  ),
);
