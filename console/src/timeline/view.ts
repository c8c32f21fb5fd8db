import { stringifyDocument } from "urql";
import { LanesDocument } from "../generated/documents.ts";
import { lanesAfter, NO_LANES } from "./lanes.ts";

/** The agents of a tree over time, as a view of the client's `useTimeline`. */
export const LANES = { document: stringifyDocument(LanesDocument), empty: NO_LANES, after: lanesAfter };
