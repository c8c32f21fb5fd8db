import { useState, type ReactNode } from "react";

/** The longest result that the server takes, in characters. */
const RESULT_CHARACTERS = 16_000;

/** The words in which a person says what came of a call that was done. Without them the model would know nothing of it. */
export function Outcome({ label, done }: { readonly label: string; readonly done: (result: string) => void }): ReactNode {
  const [result, setResult] = useState("");
  const isEmpty = result.trim() === "";
  return (
    <form
      className="outcome"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) done(result);
      }}
    >
      <label>
        What came of it, for the model
        <input required maxLength={RESULT_CHARACTERS} value={result} onChange={(event) => setResult(event.target.value)} />
      </label>
      <button type="submit" disabled={isEmpty}>
        {label}
      </button>
    </form>
  );
}
