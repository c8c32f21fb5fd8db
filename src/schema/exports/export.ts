import type { ExportFormat as Format, ExportState as State, ExportSubject as Subject } from "../../db/commit/export-rows.ts";
import { KEPT_DAYS, MOST_OF_ACTOR, MOST_RUNNING, removalTime } from "../../deliveries/exports/export.ts";
import {
  cancelExport,
  createExport,
  cursorOf,
  exportById,
  exportByRow,
  exports,
  viewerUrl,
  LINK_MS,
} from "../../resolvers/exports/export.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, described, nodesSelection } from "../builder.ts";
import { ToolCallFilter } from "../inputs/tool-calls.ts";
import { payloadType, type PayloadFields } from "../payload.ts";

export const ExportSubject = builder.enumType("ExportSubject", {
  description: "Rows of an export. Its columns are those of the SQL view of the same name.",
  values: described<Subject>({
    TOOL_CALLS: "Tool calls in a final state, without copies that forks have: `bi.tool_call`.",
    APPROVALS:
      "Approvals that are closed: `bi.approval`. Each comes once, at its decision or end. Its state is that of the moment of reading: ALLOWED may have become STALE.",
    DECISIONS: "Decisions of people on approvals, each from the time of the decision: `bi.decision`.",
    MESSAGES: "Messages of turns that have ended, and withdrawn ones, without copies that forks have: `bi.message`.",
    STEPS: "Steps of turns that have ended, without copies that forks have: `bi.step`.",
    TURNS: "Turns that have a step and have ended: `bi.turn`.",
    EVENTS: "Events of the log: `bi.event`.",
  }),
});

export const ExportFormat = builder.enumType("ExportFormat", {
  description: "Form of the file of an export, in UTF-8.",
  values: described<Format>({
    CSV: "RFC 4180 with a byte order mark and a line of names. A text that a spreadsheet would read as a formula begins with an apostrophe.",
    NDJSON: "A JSON object a line. Texts are exact.",
  }),
});

export const ExportState = builder.enumType("ExportState", {
  description: "State of an export.",
  values: described<State>({
    RUNNING: "The servers make its file.",
    DONE: "The file is complete.",
    FAILED: "It ended without a file: `problem` says why.",
    CANCELLED: "Somebody cancelled it, and its file is gone.",
  }),
});

export const Export = builder.prismaNode("Export", {
  id: { field: "id", description: "Relay id of the export." },
  description: `A file with rows of the audit, as they were final at a position of the log. Its viewers are its maker and administrators. It is removed ${KEPT_DAYS} days after its end.`,
  fields: (t) => ({
    what: t.field({
      type: ExportSubject,
      description: "Rows of the file.",
      select: { what: true },
      resolve: ({ what }) => what as Subject,
    }),
    format: t.field({
      type: ExportFormat,
      description: "Form of the file.",
      select: { format: true },
      resolve: ({ format }) => format as Format,
    }),
    withTexts: t.boolean({
      description: "True if it has inputs, results, contents of messages, notes and payloads.",
      select: { hasTexts: true },
      resolve: ({ hasTexts }) => hasTexts,
    }),
    state: t.field({
      type: ExportState,
      description: "State of the export.",
      select: { state: true },
      resolve: ({ state }) => state as State,
    }),
    rows: t.exposeInt("rows", { description: "Rows of the file so far." }),
    parts: t.exposeInt("parts", { description: "Parts of the file so far, each with at most 8 MB of text." }),
    bytes: t.float({
      description: "Bytes of the file so far.",
      select: { bytes: true },
      resolve: ({ bytes }) => Number(bytes),
    }),
    keptBytes: t.float({
      description: "Bytes that the file takes so far, compressed. They count for the bound of the tenant.",
      select: { keptBytes: true },
      resolve: ({ keptBytes }) => Number(keptBytes),
    }),
    since: t.field({
      type: "Cursor",
      nullable: true,
      description: "Position after which its rows became final. Null if it has all from the beginning.",
      select: { since: true },
      resolve: ({ since }, _args, context) => (since === null ? null : cursorOf(context, since)),
    }),
    asOf: t.field({
      type: "Cursor",
      description: "Position up to which its rows became final. The next export continues `since` it.",
      select: { asOf: true },
      resolve: ({ asOf }, _args, context) => cursorOf(context, asOf),
    }),
    problem: t.exposeString("problem", { nullable: true, description: "Reason of a failure. Null if it did not fail." }),
    viewerUrl: t.string({
      nullable: true,
      description: `Path on this server from which the viewer can download the file for ${LINK_MS / 60_000} minutes, such as \`/exports/…\`. It asks for the viewer's rights again. Null until the export is DONE, after \`expiresAt\`, and for viewers who may not read all its rows.`,
      select: { id: true, state: true, filter: true, hasTexts: true, endedAt: true },
      resolve: (row, _args, context) => viewerUrl(context, row),
    }),
    createdBy: t.field({
      type: ActorRef,
      description: "Actor that asked for it.",
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) => ({ id: createdBy, kind: createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time of the request." }),
    endedAt: t.expose("endedAt", { type: "DateTime", nullable: true, description: "Time of its end. Null while it is RUNNING." }),
    expiresAt: t.field({
      type: "DateTime",
      nullable: true,
      description: `Time at which the servers remove it with its file, ${KEPT_DAYS} days after its end. Null while it is RUNNING.`,
      select: { endedAt: true },
      resolve: ({ endedAt }) => (endedAt === null ? null : removalTime(endedAt)),
    }),
  }),
});

const ExportListFilter = builder.inputType("ExportListFilter", {
  description: "Filter for exports. All given conditions must match.",
  fields: (t) => ({ states: t.field({ type: [ExportState], description: "Exports in one of these states." }) }),
});

builder.queryField("export", (t) =>
  t.prismaField({
    type: Export,
    nullable: true,
    description: "Export by its id. Null if it does not exist, or if the viewer may not see it.",
    args: { id: t.arg.id({ required: true, description: "`id` of the export." }) },
    resolve: (query, _root, { id }, context) => exportById(context, id, query),
  }),
);

builder.queryField("exports", (t) =>
  t.connection(
    {
      type: Export,
      description: "Exports of the viewer, newest first. Administrators see those of the tenant.",
      args: { filter: t.arg({ type: ExportListFilter, description: "Filter. All exports if omitted." }) },
      resolve: (_root, args, context, info) => exports(context, args, nodesSelection(context, info)),
    },
    connectionOf("Export", Export),
  ),
);

const CreateExportInput = builder.inputType("CreateExportInput", {
  description: "Input of `createExport`.",
  fields: (t) => ({
    what: t.field({ type: ExportSubject, required: true, description: "Rows of the file." }),
    format: t.field({ type: ExportFormat, required: true, description: "Form of the file." }),
    withTexts: t.boolean({
      description:
        "True for inputs, results, contents of messages, notes and payloads, too (EXPORT_TEXTS). Steps and turns have no texts. False if omitted.",
    }),
    filter: t.field({
      type: ToolCallFilter,
      description:
        "Rows of the file; all that the viewer may read if omitted. Each kind of rows has only conditions that make sense for it. `created` is the time of the request of an approval, or of the start of a step or turn. Of other rows it is their own time. The model of a turn is that of its first step.",
    }),
    since: t.field({
      type: "Cursor",
      description:
        "Only rows that became final after this position: the `asOf` of the previous export. From the beginning if omitted.",
    }),
    asOf: t.field({
      type: "Cursor",
      description: "Only rows that were final at this position. The end of the log if omitted.",
    }),
    idempotencyKey: t.string({ description: "Key of the request, up to 200 characters. The same key makes one export." }),
  }),
});

const CancelExportInput = builder.inputType("CancelExportInput", {
  description: "Input of `cancelExport`.",
  fields: (t) => ({ exportId: t.id({ required: true, description: "`id` of the export." }) }),
});

const exportField = (t: PayloadFields) =>
  t.prismaField({
    type: Export,
    nullable: true,
    description: "The export. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => exportByRow(context, rowId, query),
  });

/** The price of an export: it reads many rows. */
const EXPORT_PRICE = 100;

builder.mutationField("createExport", (t) =>
  t.field({
    type: payloadType("CreateExportPayload", (fields) => ({ export: exportField(fields) })),
    complexity: EXPORT_PRICE,
    description: `Begins an export of rows that the viewer may read: those of the tenant, or of the viewer's own agents. The servers make its file; query \`export\` for the progress, or wait for EXPORT_ENDED. At a time, a tenant has at most ${MOST_RUNNING} and an actor ${MOST_OF_ACTOR} (QUEUE_FULL).`,
    args: { input: t.arg({ type: CreateExportInput, required: true, description: "Rows and form." }) },
    resolve: (_root, { input }, context) =>
      createExport(context, {
        what: input.what,
        format: input.format,
        withTexts: input.withTexts ?? false,
        filter: input.filter ?? {},
        since: input.since ?? null,
        asOf: input.asOf ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

builder.mutationField("cancelExport", (t) =>
  t.field({
    type: payloadType("CancelExportPayload", (fields) => ({ export: exportField(fields) })),
    description:
      "Ends an export and removes its file, complete or not. One that has failed, or was cancelled, stays as it is. Administrators can cancel any export of the tenant.",
    args: { input: t.arg({ type: CancelExportInput, required: true, description: "Export to cancel." }) },
    resolve: (_root, { input }, context) => cancelExport(context, input.exportId),
  }),
);
