export { answerRefusals, type Decision, type Refusals } from "./actions.ts";
export { askedIn, type Asked, type Proposal } from "./asked.ts";
export { ConversationScreen } from "./conversation.tsx";
export { forgetAgent, knownAgent, rememberAgent } from "./remembered.ts";
export * from "./generated/documents.ts";
