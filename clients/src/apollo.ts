import { ApolloLink } from "@apollo/client/link";
import { print } from "graphql";
import { Observable } from "rxjs";
import { optionsFor, resume, type ManyResumeOptions } from "./resume.ts";
import type { Result, Transport } from "./transport.ts";

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
    return new Observable((observer) =>
      resume<Record<string, unknown>>(
        this.#transport,
        { query: print(query), operationName, variables, extensions },
        {
          next: (result: Result<Record<string, unknown>>) => observer.next(result as ApolloLink.Result),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        },
        optionsFor(this.#options, operation),
      ),
    );
  }
}
