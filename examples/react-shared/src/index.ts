export { Conversation, type Actions } from "./conversation.tsx";
export { after, EMPTY, type Page, type View } from "./view.ts";
export { forgetAgent, knownAgent, rememberAgent } from "./remembered.ts";
export * from "./generated/documents.ts";
