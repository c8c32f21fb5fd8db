import { Trans, useLingui } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import { Dialog } from "../design/dialog.tsx";
import { CreateTokenDocument, type Role } from "../generated/documents.ts";
import { change, refusalText } from "../session/ask.ts";
import { useViewer } from "../session/viewer.tsx";

/** Makes an access token. Its secret is shown once, here. */
export function NewToken({ close }: { readonly close: () => void }): ReactNode {
  const { t } = useLingui();
  const { roles } = useViewer();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [chosen, setChosen] = useState<readonly Role[]>(roles);
  const [secret, setSecret] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const send = async (): Promise<void> => {
    const input = { name, expiresInDays: Number(days), roles: [...chosen] };
    const { createAccessToken } = await change(CreateTokenDocument, { input });
    setProblem(refusalText(createAccessToken.userErrors));
    setSecret(createAccessToken.secret);
  };
  if (secret !== null)
    return (
      <Dialog title={t`Your new token`} isOpen close={close}>
        <p>
          <Trans>Copy it now. It is shown this once.</Trans>
        </p>
        <input aria-label={t`Token`} className="code" readOnly value={secret} onFocus={({ target }) => target.select()} />
        <div className="row">
          <button type="button" className="primary" onClick={() => void navigator.clipboard.writeText(secret)}>
            <Trans>Copy</Trans>
          </button>
          <button type="button" onClick={close}>
            <Trans>Done</Trans>
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={t`New token`} isOpen close={close}>
      <form
        className="look-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send().catch((failure: unknown) => setProblem(failure instanceof Error ? failure.message : String(failure)));
        }}
      >
        <div className="field">
          <label htmlFor={`${id}-name`}>
            <Trans>Name, such as the program that uses it</Trans>
          </label>
          <input id={`${id}-name`} required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
        </div>
        <div className="field">
          <label htmlFor={`${id}-days`}>
            <Trans>Valid for days (1 to 365)</Trans>
          </label>
          <input
            id={`${id}-days`}
            type="number"
            min={1}
            max={365}
            required
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        </div>
        <fieldset className="row">
          <legend>
            <Trans>Roles</Trans>
          </legend>
          {roles.map((role) => (
            <label key={role}>
              <input
                type="checkbox"
                checked={chosen.includes(role)}
                onChange={({ target }) => setChosen(target.checked ? [...chosen, role] : chosen.filter((each) => each !== role))}
              />{" "}
              {role.toLowerCase()}
            </label>
          ))}
        </fieldset>
        {problem === null ? null : (
          <p role="alert" className="alert">
            {problem}
          </p>
        )}
        <div className="row">
          <button type="submit" className="primary">
            <Trans>Create</Trans> <kbd>⏎</kbd>
          </button>
          <button type="button" onClick={close}>
            <Trans>Cancel</Trans>
          </button>
        </div>
      </form>
    </Dialog>
  );
}
