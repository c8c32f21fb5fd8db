import type { ChatBody } from "../openai-stream.ts";

type Message = ChatBody["messages"][number];

/** The messages that a server looks at together: each with the one before it. */
export function pairs({ messages }: ChatBody): readonly (readonly [before: Message, message: Message])[] {
  return messages.slice(1).map((message, index) => [messages[index] ?? message, message]);
}

/** The answers with calls of a request. */
export function callingAnswers({ messages }: ChatBody): readonly Message[] {
  return messages.filter(({ role, tool_calls }) => role === "assistant" && Array.isArray(tool_calls));
}

/** The calls of all answers, as objects. */
export function callsIn(body: ChatBody): readonly Readonly<Record<string, unknown>>[] {
  return callingAnswers(body).flatMap(({ tool_calls }) => tool_calls as readonly Readonly<Record<string, unknown>>[]);
}

/** The schemas of the tools of a request, as JSON text. */
export function schemasIn({ tools }: ChatBody): string {
  return JSON.stringify(
    ((tools ?? []) as readonly { readonly function: { readonly parameters: unknown } }[]).map((tool) => tool.function.parameters),
  );
}

/** True if a message has a part that is an image. */
export function hasImage({ content }: Message): boolean {
  return Array.isArray(content) && content.some((part: { readonly type?: unknown }) => part.type === "image_url");
}
