import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { type ResumeStatus, ResumeError, resume } from "@triplane/client";
import { stringifyDocument, type CombinedError } from "urql";
import { client, transport } from "./client.ts";
import { tellConnection } from "./connection.ts";
import { tellUnknown } from "./presence.ts";

type Variables = Readonly<Record<string, unknown>>;

/** The server's answer to an operation could not be had. `code` is that of the server's error; null for a lost request. */
export class AskFailed extends Error {
  override readonly name = "AskFailed";
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}

/** Asks the server anew, without the cache. */
export async function ask<Data, Given extends Variables>(
  document: TypedDocumentNode<Data, Given>,
  variables: Given,
): Promise<Data> {
  const { data, error } = await client.query(document, variables, { requestPolicy: "network-only" }).toPromise();
  return answerOf(data, error);
}

export async function change<Data, Given extends Variables>(
  document: TypedDocumentNode<Data, Given>,
  variables: Given,
): Promise<Data> {
  const { data, error } = await client.mutation(document, variables).toPromise();
  return answerOf(data, error);
}

function answerOf<Data>(data: Data | undefined, error: CombinedError | undefined): Data {
  if (data !== undefined && data !== null) return data;
  const [first] = error?.graphQLErrors ?? [];
  const code = first?.extensions["code"];
  if (code === "UNAUTHENTICATED") tellUnknown();
  const message = first?.message ?? error?.networkError?.message ?? "the server answered without data";
  throw new AskFailed(message, typeof code === "string" ? code : null);
}

/** Refusals come as data: their messages in one text; null if there is none. */
export function refusalText(userErrors: readonly { readonly message: string }[]): string | null {
  return userErrors.length === 0 ? null : userErrors.map(({ message }) => message).join("; ");
}

/** A listener of one subscription. `lostPlace` says that the server cannot continue from the cursor: read again. */
export type FollowListener<Data> = {
  readonly page: (data: Data) => void;
  readonly lostPlace: () => void;
  readonly failed: (message: string) => void;
};

/** Follows a subscription that resumes. The state of its connection is the page's. Returns its end. */
export function follow<Data, Given extends Variables>(
  document: TypedDocumentNode<Data, Given>,
  variables: Given,
  { page, lostPlace, failed }: FollowListener<Data>,
): () => void {
  return resume<Data>(
    transport,
    { query: stringifyDocument(document), variables },
    {
      next: ({ data, errors }) => {
        if (data !== undefined && data !== null) page(data);
        else if (errors?.[0] !== undefined) failed(errors[0].message);
      },
      error: (error) => {
        if (error instanceof ResumeError && error.code.startsWith("CURSOR_")) lostPlace();
        else if (error instanceof ResumeError && error.code === "CONNECTION_REFUSED") tellUnknown();
        else failed(error instanceof Error ? error.message : String(error));
      },
      complete: () => {},
    },
    {
      onStatus: (status: ResumeStatus) => {
        tellConnection(status);
        if (status.kind === "lost" && status.error.code === "UNAUTHENTICATED") tellUnknown();
      },
    },
  );
}
