/** A view that is made of the timeline of one agent, page by page. */
export type TimelineView<Page, View> = {
  /**
   * The text of a subscription with the variables `$agentId: ID!` and `$since: Cursor`, which selects one field, and of its
   * pages `cursor` and `caughtUp`.
   */
  readonly document: string;
  /** The view before any event. */
  readonly empty: View;
  /** The view after one more page. It must be pure: after a restart it is made again from the first page on. */
  readonly after: (view: View, page: Page) => View;
};
