import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { bytesText } from "../design/amounts.ts";

type Shown = { readonly mediaType: string; readonly bytes: number; readonly viewerUrl: string };

/** The images of a call's result. Their addresses are valid for some minutes: opening the call again renews them. */
export function ResultImages({ images }: { readonly images: readonly Shown[] }): ReactNode {
  if (images.length === 0) return null;
  return (
    <ol className="result-images">
      {images.map((image, index) => (
        <li key={image.viewerUrl}>
          <ResultImage image={image} number={index + 1} />
        </li>
      ))}
    </ol>
  );
}

function ResultImage({
  image: { mediaType, bytes, viewerUrl },
  number,
}: {
  readonly image: Shown;
  readonly number: number;
}): ReactNode {
  const { t } = useLingui();
  const [isLost, setLost] = useState(false);
  const words = t`Image ${number} of the result, ${mediaType}, ${bytesText(bytes)}`;
  return isLost ? (
    <p className="note">
      <Trans>{words}: it could not be loaded. Close the call and open it again.</Trans>
    </p>
  ) : (
    <a href={viewerUrl} target="_blank" rel="noreferrer">
      <img src={viewerUrl} alt={words} title={words} onError={() => setLost(true)} />
    </a>
  );
}
