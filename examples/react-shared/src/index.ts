export { ConversationScreen, type Actions } from "./conversation.tsx";
export { forgetAgent, knownAgent, rememberAgent } from "./remembered.ts";
export * from "./generated/documents.ts";
