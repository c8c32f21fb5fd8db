import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";

/** Words of the server: they are English in each language of the console. */
export function ServerWords({ text }: { readonly text: string }): ReactNode {
  return <span lang="en">{visible(text)}</span>;
}
