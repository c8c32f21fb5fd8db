import { ApolloLink } from "@apollo/client/link";
import { print } from "graphql";
import { Observable } from "rxjs";
import { optionsFor, resume, type ManyResumeOptions, type StatusContext } from "./resume.ts";
import type { Result, Transport } from "./transport.ts";

export { typePolicies } from "./apollo-cache.ts";
export { possibleTypes } from "./possible-types.ts";

/** The options of a ResumeLink: how its subscriptions resume. */
export type ResumeLinkOptions = ManyResumeOptions<ApolloLink.Operation>;

/**
 * The terminating link for subscriptions in Apollo Client 4. Send it what is a subscription, and the rest to an
 * HttpLink: `ApolloLink.split(({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION, resumeLink, httpLink)`.
 */
export class ResumeLink extends ApolloLink {
  readonly #transport: Transport;
  readonly #options: ResumeLinkOptions;

  constructor(transport: Transport, options: ResumeLinkOptions = {}) {
    super();
    this.#transport = transport;
    this.#options = options;
  }

  override request(operation: ApolloLink.Operation): Observable<ApolloLink.Result> {
    const { query, operationName, variables, extensions } = operation;
    const context = operation.getContext() as StatusContext & { readonly http?: { readonly includeQuery?: boolean } };
    // Apollo's own link for persisted queries says so, and puts the hash into the extensions.
    const text = context.http?.includeQuery === false ? "" : print(query);
    return new Observable((observer) =>
      resume<Record<string, unknown>>(
        this.#transport,
        { query: text, operationName, variables, extensions },
        {
          next: (result: Result<Record<string, unknown>>) => observer.next(result as ApolloLink.Result),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        },
        optionsFor(this.#options, operation, context),
      ),
    );
  }
}
