import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { useQuery } from "urql";
import { useCallWords } from "../calls/state-words.ts";
import { isComposing } from "../design/keys.ts";
import { TemplatesDocument } from "../generated/documents.ts";
import {
  CALL_STATES,
  DECIDED_STATES,
  ERROR_TYPES,
  STEP_ORDERS,
  STEP_STATES,
  VERDICTS,
  type AuditFilter,
  type AuditSearch,
  type AuditView,
} from "./filters.ts";
import { useDecisionWords, useOrderWords, useStepWords } from "./words.tsx";

/** The filters of each view, besides template and days. */
const FILTERS_OF: Readonly<Record<AuditView, readonly AuditFilter[]>> = {
  calls: ["tool", "state", "verdict", "error", "place", "person"],
  decisions: ["tool", "state", "requester", "person"],
  steps: ["model", "state", "price", "requester", "order"],
  charts: ["tool", "model", "verdict", "error", "place", "requester", "person"],
};

/** The filters of the audit. A text field filters when it is left, or by Enter. */
export function AuditFilterBar({
  search,
  view,
  set,
}: {
  readonly search: AuditSearch;
  readonly view: AuditView;
  readonly set: (part: AuditSearch) => void;
}): ReactNode {
  const { t } = useLingui();
  const [{ data }] = useQuery({ query: TemplatesDocument });
  const calls = useCallWords();
  const decisions = useDecisionWords();
  const templates = (data?.templates ?? []).map(({ templateId }) => ({ value: templateId, label: templateId }));
  const steps = useStepWords();
  const orders = useOrderWords();
  const states = {
    calls: CALL_STATES.map((value) => ({ value, label: calls[value] })),
    decisions: DECIDED_STATES.map((value) => ({ value, label: decisions[value] })),
    steps: STEP_STATES.map((value) => ({ value, label: steps[value] })),
    charts: [],
  }[view];
  const has = (filter: AuditFilter): boolean => FILTERS_OF[view].includes(filter);
  return (
    <div className="row" role="group" aria-label={t`Filters`}>
      {has("tool") ? <TextFilter label={t`Tool`} value={search.tool} set={(tool) => set({ tool })} /> : null}
      {has("model") ? <TextFilter label={t`Model`} value={search.model} set={(model) => set({ model })} /> : null}
      {has("state") ? <Choice label={t`State`} value={search.state} choices={states} set={(state) => set({ state })} /> : null}
      <Choice label={t`Template`} value={search.template} choices={templates} set={(template) => set({ template })} />
      {!has("verdict") ? null : (
        <>
          <Choice
            label={t`Verdict`}
            value={search.verdict}
            choices={VERDICTS.map((value) => ({ value, label: value.toLowerCase() }))}
            set={(verdict) => set({ verdict })}
          />
          <Choice
            label={t`Error`}
            value={search.error}
            choices={ERROR_TYPES.map((value) => ({ value, label: value.toLowerCase().replaceAll("_", " ") }))}
            set={(error) => set({ error })}
          />
          <TextFilter label={t`Place of the rule`} value={search.place} set={(place) => set({ place })} />
        </>
      )}
      {!has("price") ? null : (
        <Choice
          label={t`Price`}
          value={search.price}
          choices={[{ value: "none", label: t`without a price` }]}
          set={(price) => set({ price })}
        />
      )}
      {!has("requester") ? null : (
        <TextFilter label={t`Requested by`} value={search.requester} set={(requester) => set({ requester })} />
      )}
      {has("person") ? <TextFilter label={t`Decided by`} value={search.person} set={(person) => set({ person })} /> : null}
      <input
        type="date"
        aria-label={t`From day`}
        title={t`From day`}
        value={search.from ?? ""}
        onChange={({ target }) => set({ from: target.value })}
      />
      <input
        type="date"
        aria-label={t`To day`}
        title={t`To day`}
        value={search.to ?? ""}
        onChange={({ target }) => set({ to: target.value })}
      />
      {!has("order") ? null : (
        <Choice
          label={t`Order`}
          value={search.order}
          choices={STEP_ORDERS.map((value) => ({ value, label: orders[value] }))}
          set={(order) => set({ order })}
        />
      )}
    </div>
  );
}

function Choice({
  label,
  value,
  choices,
  set,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <select aria-label={label} value={value ?? ""} onChange={({ target }) => set(target.value)}>
      <option value="">{label}</option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

function TextFilter({
  label,
  value = "",
  set,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
}): ReactNode {
  return (
    <input
      key={value}
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onBlur={({ target }) => (target.value.trim() === value ? undefined : set(target.value.trim()))}
      onKeyDown={(event) => (event.key === "Enter" && !isComposing(event) ? set(event.currentTarget.value.trim()) : undefined)}
    />
  );
}
