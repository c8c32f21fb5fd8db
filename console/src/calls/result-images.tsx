import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { bytesText } from "../design/amounts.ts";

export type ShownImage = {
  readonly mediaType: string;
  readonly bytes: number;
  readonly isRemoved: boolean;
  readonly viewerUrl: string;
};

/** The images of a call's result. Their addresses are valid for some minutes: opening the call again renews them. */
export function ResultImages({ images }: { readonly images: readonly ShownImage[] }): ReactNode {
  const { t } = useLingui();
  return (
    <ImageList
      images={images}
      wordsOf={(number, facts) => t`Image ${number} of the result, ${facts}`}
      lost={(words) => <Trans>{words}: it could not be loaded. Close the call and open it again.</Trans>}
    />
  );
}

/** Images of this server, each with its words and a link to its whole size. */
export function ImageList({
  images,
  wordsOf,
  lost,
}: {
  readonly images: readonly ShownImage[];
  /** The words for an image, by its number and its facts: type and size. */
  readonly wordsOf: (number: number, facts: string) => string;
  /** The note in place of an image that could not be loaded. */
  readonly lost: (words: string) => ReactNode;
}): ReactNode {
  if (images.length === 0) return null;
  return (
    <ol className="result-images">
      {images.map((image, index) => (
        <li key={image.viewerUrl}>
          <OneImage image={image} words={wordsOf(index + 1, `${image.mediaType}, ${bytesText(image.bytes)}`)} lost={lost} />
        </li>
      ))}
    </ol>
  );
}

function OneImage({
  image: { isRemoved, viewerUrl },
  words,
  lost,
}: {
  readonly image: ShownImage;
  readonly words: string;
  readonly lost: (words: string) => ReactNode;
}): ReactNode {
  const [isLost, setLost] = useState(false);
  if (isRemoved)
    return (
      <div className="note">
        <Trans>{words}: it was removed.</Trans>
      </div>
    );
  if (isLost) return <div className="note">{lost(words)}</div>;
  return (
    <a href={viewerUrl} target="_blank" rel="noreferrer">
      <img src={viewerUrl} alt={words} title={words} onError={() => setLost(true)} />
    </a>
  );
}
