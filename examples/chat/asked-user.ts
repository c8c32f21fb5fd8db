/** A question of the model to the person: a call of `ask_user` that waits. */
export type AskedUser = { readonly callId: string; readonly question: string; readonly options: readonly string[] };

/** A call that waits for its result, as the chat reads it. */
export type WaitingCall = {
  readonly callId: string;
  readonly name: string;
  readonly state: string;
  readonly waitsFor: string | null;
  readonly input: unknown;
};

/** The question of a waiting call; null if the chat cannot answer it. */
export function askedUser({ callId, name, state, waitsFor, input }: WaitingCall): AskedUser | null {
  if (name !== "ask_user" || state !== "WAITING" || waitsFor !== "CLIENT_TOOL") return null;
  if (typeof input !== "object" || input === null || !("question" in input) || typeof input.question !== "string") return null;
  const options = "options" in input && Array.isArray(input.options) ? input.options : [];
  return { callId, question: input.question, options: options.filter((option) => typeof option === "string") };
}

export function askedUserText({ question, options }: AskedUser): string {
  const lines = options.map((option, index) => `  ${index + 1}. ${option}`);
  const how = options.length === 0 ? "your answer, in one line" : "a number, or another answer";
  return [question, ...lines, `ask_user: [${how}]`].join("\n");
}

/** The answer that a line gives: the option of a number, or the line. */
export function answerIn({ options }: AskedUser, line: string): string {
  return (/^\d+$/.test(line) ? options[Number(line) - 1] : undefined) ?? line;
}
