import { TemplateVersion } from "../templates/template.ts";
import { eventType, TimelineEvent } from "./event.ts";

eventType("TEMPLATE_CHANGED").implement({
  description: "A turn begins with another version of the agent's template than the turn before.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    from: t.field({ type: TemplateVersion, description: "Version of the turn before.", resolve: ({ body }) => body.from }),
    to: t.field({ type: TemplateVersion, description: "Version of this turn.", resolve: ({ body }) => body.to }),
  }),
});
