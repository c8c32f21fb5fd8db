import type { ContextPart as Part, StepContext as Context } from "../agent/conversation/context-at.ts";
import { messagesOfContext, type PlacedMessage } from "../resolvers/step-context.ts";
import { builder, connectionOf } from "./builder.ts";

const ContextPart = builder.enumType("ContextPart", {
  description: "A part of a request to a model.",
  values: {
    REQUEST: { description: "All of it: the step has not ended, made no request, or its server crashed." },
    SYSTEM: { description: "System prompt." },
    TOOLS: { description: "Tools." },
    SETTINGS: { description: "Settings of the call." },
    MESSAGES: { description: "Messages that were erased." },
    SUMMARY: { description: "A summary that was erased." },
  } satisfies Readonly<Record<Part, object>>,
});

const ContextMessage = builder.objectRef<PlacedMessage>("ContextMessage").implement({
  description: "A message of a request. Neighbours of one role are one message.",
  fields: (t) => ({
    index: t.exposeInt("index", { description: "Index of the message in the request, from 0." }),
    role: t.exposeString("role", { description: "`user` or `assistant`." }),
    content: t.expose("content", {
      type: "JSON",
      description: "Content blocks, as in `Message.content`. An image is there by its SHA-256.",
    }),
  }),
});

const ContextMessageConnection = connectionOf("ContextMessage", ContextMessage);

export const StepContext = builder.objectRef<Context>("StepContext").implement({
  description: "Request of a step to its model, made again of stored rows.",
  fields: (t) => ({
    step: t.exposeInt("step", { description: "Step that made the request." }),
    turn: t.exposeInt("turn", { description: "Turn of the step." }),
    model: t.exposeString("model", { description: "Name of the model." }),
    isProved: t.exposeBoolean("isProved", {
      description: "True if the request that is shown has the hash `hash`: the model was sent exactly this.",
    }),
    missing: t.expose("missing", {
      type: [ContextPart],
      description: "Parts that are gone or unknown. Empty if `isProved` is true.",
    }),
    hash: t.exposeString("hash", {
      nullable: true,
      description:
        "SHA-256 over the RFC 8785 form of the request `{ messages, settings, system, tools }`, as it was sent. Null if it is unknown.",
    }),
    system: t.exposeString("system", {
      nullable: true,
      description: "System prompt, with the manual of the tools. Null if it is gone.",
    }),
    tools: t.expose("tools", {
      type: "JSON",
      nullable: true,
      description: "Tools as `[{ name, description, inputSchema }]`. Null if they are gone.",
    }),
    settings: t.expose("settings", {
      type: "JSON",
      nullable: true,
      description: "Settings of the call, with the schema of the answer. Null if they are gone.",
    }),
    messages: t.connection(
      {
        type: ContextMessage,
        description: "Messages in order.",
        resolve: (context, args) => messagesOfContext(context, args),
      },
      ContextMessageConnection,
    ),
  }),
});
