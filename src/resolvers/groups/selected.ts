import { Kind, type FragmentDefinitionNode, type GraphQLResolveInfo, type SelectionSetNode } from "graphql";

/** The names of all fields that the operation selects below a field, at any depth. */
export function selectedBelow({ fieldNodes, fragments }: GraphQLResolveInfo): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<FragmentDefinitionNode>();
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        names.add(selection.name.value);
        visit(selection.selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else {
        const fragment = fragments[selection.name.value];
        if (fragment === undefined || seen.has(fragment)) continue;
        seen.add(fragment);
        visit(fragment.selectionSet);
      }
    }
  };
  for (const node of fieldNodes) visit(node.selectionSet);
  return names;
}
