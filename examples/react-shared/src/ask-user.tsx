import { visible } from "@triplane/client/command-lines";
import { useState, type ReactNode } from "react";

/** The longest answer, in characters. */
const ANSWER_CHARACTERS = 4_000;

type AskedUser = { readonly question: string; readonly options: readonly string[] };

/** A question of the model to the person, who answers by an option or by other words. */
export function AskUser({
  input,
  answer,
}: {
  /** The input of a call of `ask_user`. */
  readonly input: unknown;
  /** False if it could not be sent. */
  readonly answer: (text: string) => Promise<boolean>;
}): ReactNode {
  const { question, options } = askedUser(input);
  const [words, setWords] = useState("");
  const [isSending, setSending] = useState(false);
  const send = (text: string): void => {
    setSending(true);
    // An answer that is sent closes the form by its event.
    void answer(text).then((isSent) => (isSent ? null : setSending(false)));
  };
  return (
    <form
      className="question"
      aria-label="Question"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== "") send(words);
      }}
    >
      <p>{visible(question)}</p>
      {options.length === 0 ? null : (
        <div>
          {options.map((option) => (
            <button key={option} type="button" disabled={isSending} onClick={() => send(option)}>
              {visible(option)}
            </button>
          ))}
        </div>
      )}
      <label>
        {options.length === 0 ? "Your answer" : "Another answer"}
        <input maxLength={ANSWER_CHARACTERS} value={words} onChange={(event) => setWords(event.target.value)} />
      </label>
      <button type="submit" disabled={isSending || words.trim() === ""}>
        Answer
      </button>
    </form>
  );
}

function askedUser(input: unknown): AskedUser {
  if (typeof input !== "object" || input === null || !("question" in input) || typeof input.question !== "string")
    return { question: "(erased)", options: [] };
  const options: readonly unknown[] = "options" in input && Array.isArray(input.options) ? input.options : [];
  return { question: input.question, options: [...new Set(options.filter((option) => typeof option === "string"))] };
}
