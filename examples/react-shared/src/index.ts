export { ConversationScreen, type Actions } from "./conversation.tsx";
export { accepted, keyOf } from "./intents.ts";
export { forgetAgent, knownAgent, rememberAgent } from "./remembered.ts";
export * from "./generated/documents.ts";
