import { MODEL_ERROR_KINDS, type Model, type ModelErrorKind } from "../models/model.ts";

/** A model that answers the rest of a turn after one of these failures. */
export type Fallback = { readonly model: string; readonly on: readonly ModelErrorKind[] };

/** Another model often refuses for the same reason: only a fallback that names this failure answers after it. */
const ALL_BUT_REFUSED = MODEL_ERROR_KINDS.filter((kind) => kind !== "refused");

export type Fallbacks = { readonly fallbacks: readonly Fallback[]; readonly fallbackModel: string | null };

export function fallbacksOf({ fallbacks, fallbackModel }: Fallbacks): readonly Fallback[] {
  return fallbackModel === null ? fallbacks : [...fallbacks, { model: fallbackModel, on: ALL_BUT_REFUSED }];
}

/** The name of the next model after a failure; null if none is left. A turn tries each once, and never `own` again. */
export function nextFallback(
  template: Fallbacks,
  failure: ModelErrorKind,
  {
    own,
    tried,
    models,
  }: { readonly own: string; readonly tried: readonly string[]; readonly models: ReadonlyMap<string, Model> },
): string | null {
  const isLeft = ({ model, on }: Fallback): boolean =>
    on.includes(failure) && model !== own && !tried.includes(model) && models.has(model);
  return fallbacksOf(template).find(isLeft)?.model ?? null;
}

/**
 * The fallbacks that an earlier owner has tried in a turn, by the model of its last step; empty for none. Those before the last one
 * count as tried, too. If models have one name, the first is tried again.
 */
export function triedBefore(
  template: Fallbacks,
  lastModel: string | null,
  { first, models }: { readonly first: Model; readonly models: ReadonlyMap<string, Model> },
): readonly string[] {
  if (lastModel === null || lastModel === first.name) return [];
  const names = fallbacksOf(template).map(({ model }) => model);
  const at = names.findIndex((name) => models.get(name)?.name === lastModel);
  return names.slice(0, at + 1);
}
