import type { BodyOf } from "../../events/event.ts";
import type { ExportSnapshot as Exported } from "../../events/tenant-event.ts";
import { globalId } from "../../lib/global-id.ts";
import { ActorRef } from "../actor.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { builder } from "../builder.ts";
import { ExportFormat, ExportState, ExportSubject } from "../exports/export.ts";
import { eventType, TimelineEvent } from "./event.ts";
import { TenantEvent } from "./tenant.ts";

const ExportSnapshot = builder.objectRef<Exported>("ExportSnapshot").implement({
  description: "An export at the time of the event. It is not a node: `export(id)` has it as it is now.",
  fields: (t) => ({
    exportId: t.id({ description: "Id of the export.", resolve: ({ exportId }) => globalId("Export", exportId) }),
    what: t.expose("what", { type: ExportSubject, description: "Rows of the file." }),
    format: t.expose("format", { type: ExportFormat, description: "Form of the file." }),
    withTexts: t.boolean({
      description: "True if it has inputs, results and payloads.",
      resolve: ({ hasTexts }) => hasTexts,
    }),
    state: t.expose("state", { type: ExportState, description: "State of the export." }),
    rows: t.exposeInt("rows", { description: "Rows of its file; 0 until it is DONE." }),
    createdBy: t.expose("createdBy", { type: ActorRef, description: "Actor that asked for it." }),
  }),
});

const ExportEvent = builder.interfaceRef<EventView<BodyOf<"EXPORT_CREATED" | "EXPORT_ENDED">>>("ExportEvent").implement({
  description: "The beginning or the end of an export.",
  interfaces: [TimelineEvent, TenantEvent],
  fields: (t) => ({
    exported: t.field({
      type: ExportSnapshot,
      description: "The export at the time of the event.",
      resolve: ({ body }) => body.exported,
    }),
  }),
});

eventType("EXPORT_CREATED").implement({
  description: "An actor asked for a file of rows of the audit.",
  interfaces: [TimelineEvent, TenantEvent, ExportEvent],
});

eventType("EXPORT_ENDED").implement({
  description: "An export is complete, has failed, or was cancelled. The server itself made the change unless it was cancelled.",
  interfaces: [TimelineEvent, TenantEvent, ExportEvent],
});
