import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useId, useRef, useState, type ReactNode } from "react";
import { isComposing } from "../design/keys.ts";
import { SendMessageDocument, type ImageType } from "../generated/documents.ts";
import { isText, useDraft } from "../session/drafts.ts";
import { change, refusalText } from "../session/ask.ts";

const TYPES: Readonly<Record<string, ImageType>> = {
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/gif": "GIF",
  "image/webp": "WEBP",
};

/** A message to the agent, with images. A text that could not be sent stays. */
export function Composer({ agentId, isArchived }: { readonly agentId: string; readonly isArchived: boolean }): ReactNode {
  const { t } = useLingui();
  const id = useId();
  const [text, setText] = useDraft(agentId, "message", "", isText);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const deliver = async (): Promise<string | null> => {
    const images = await Promise.all(
      files.map(async (file) => ({ mediaType: TYPES[file.type] ?? "PNG", data: await base64(file) })),
    );
    const { sendMessage } = await change(SendMessageDocument, {
      input: { agentId, text, idempotencyKey: crypto.randomUUID(), ...(images.length === 0 ? {} : { images }) },
    });
    return refusalText(sendMessage.userErrors);
  };
  const send = (): void => {
    if (isBusy) return;
    if (text.trim() === "") return field.current?.focus();
    setBusy(true);
    void deliver()
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      .then((refusal) => {
        setProblem(refusal);
        setBusy(false);
        if (refusal !== null) return;
        setText("");
        setFiles([]);
      });
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor={id} className="visually-hidden">
        <Trans>Message</Trans>
      </label>
      <textarea
        ref={field}
        id={id}
        dir="auto"
        rows={2}
        disabled={isArchived}
        placeholder={isArchived ? t`The agent is archived.` : t`Message (Enter sends, Shift Enter begins a line)`}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          // Enter that ends an input method's composition sends nothing.
          if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="row">
        <button type="button" className="plain" disabled={isArchived} onClick={() => chooser.current?.click()}>
          <Trans>Image</Trans>
        </button>
        <input
          ref={chooser}
          type="file"
          hidden
          multiple
          accept={Object.keys(TYPES).join(",")}
          aria-label={t`Images`}
          onChange={({ target }) => {
            const picked = [...(target.files ?? [])];
            setFiles([...files, ...picked.filter((file) => TYPES[file.type] !== undefined)]);
            const others = picked.filter((file) => TYPES[file.type] === undefined).map(({ name }) => visible(name));
            setProblem(others.length === 0 ? null : t`Only PNG, JPEG, GIF and WEBP can be sent: ${others.join(", ")}`);
            // The same file can be chosen again after it was removed.
            target.value = "";
          }}
        />
        {files.map((file, index) => (
          <span key={`${file.name} ${index}`} className="row small">
            {visible(file.name)}
            <button
              type="button"
              className="plain"
              aria-label={t`Remove ${visible(file.name)}`}
              onClick={() => setFiles(files.filter((each) => each !== file))}
            >
              ✕
            </button>
          </span>
        ))}
        <button type="submit" className="primary" disabled={isBusy || isArchived}>
          <Trans>Send</Trans>
        </button>
      </div>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
