import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { ImageList, type ShownImage } from "../../calls/result-images.tsx";
import { MessageImagesDocument, type MessageImagesQuery } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";

type Reading =
  | { readonly kind: "out of view" }
  | { readonly kind: "loading" }
  | { readonly kind: "read"; readonly images: readonly ShownImage[] }
  | { readonly kind: "failed"; readonly message: string };

/** The images of a person's message. They are read when the message comes into view: their addresses are valid for some minutes. */
export function MessageImages({ messageId, count }: { readonly messageId: string; readonly count: number }): ReactNode {
  const { t } = useLingui();
  const place = useRef<HTMLDivElement>(null);
  const [reading, setReading] = useState<Reading>({ kind: "out of view" });
  const read = (): void => {
    setReading({ kind: "loading" });
    ask(MessageImagesDocument, { id: messageId }).then(
      ({ node }) => setReading({ kind: "read", images: imagesOf(node) }),
      (failure: unknown) => setReading({ kind: "failed", message: failure instanceof Error ? failure.message : String(failure) }),
    );
  };
  useEffect(() => {
    const element = place.current;
    if (element === null || reading.kind !== "out of view") return;
    const observer = new IntersectionObserver((entries) => (entries.some((entry) => entry.isIntersecting) ? read() : undefined));
    observer.observe(element);
    return () => observer.disconnect();
  }, [reading.kind]);
  const again = (
    <button type="button" onClick={read}>
      <Trans>Load the images again</Trans>
    </button>
  );
  return (
    <div ref={place} className="message-images">
      {reading.kind === "read" ? (
        reading.images.length === 0 ? (
          <p className="small quiet">{t`images: ${count} (erased)`}</p>
        ) : (
          <ImageList
            images={reading.images}
            wordsOf={(number, facts) => t`Image ${number} of the message, ${facts}`}
            lost={(words) => (
              <>
                <Trans>{words}: it could not be loaded.</Trans> {again}
              </>
            )}
          />
        )
      ) : reading.kind === "failed" ? (
        <p className="alert row">
          {reading.message} {again}
        </p>
      ) : (
        <p className="small quiet">{t`images: ${count}`}</p>
      )}
    </div>
  );
}

function imagesOf(node: MessageImagesQuery["node"]): readonly ShownImage[] {
  if (node === null || !("blocks" in node)) return [];
  return (node.blocks ?? []).filter((block): block is ShownImage & typeof block => "viewerUrl" in block);
}
