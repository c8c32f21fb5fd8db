import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type ASTVisitor,
  type FieldNode,
  type GraphQLError,
  type GraphQLOutputType,
  type SelectionSetNode,
  type ValidationContext,
} from "graphql";
import { MAX_PAGE } from "../resolvers/connection.ts";
import { clientError } from "../resolvers/errors.ts";

/**
 * The most rows of connections that one operation may ask for, each as often as the connections around it are answered; how
 * deep it may go; and how many selections it may have when its fragments are spread.
 */
const MOST = { rows: 50_000, depth: 20, selections: 20_000 };

/** The rows that a connection answers if nobody says how many. */
const USUAL_PAGE = 20;

/** The level of a selection: its depth, and the number of times that it is answered. */
type Level = { readonly depth: number; readonly times: number };

/**
 * A rule of validation: an operation that asks for more rows than MOST, or goes deeper, is refused before anything is
 * read. A page whose size is a variable counts as the largest. (Static query cost, as GitHub's API counts nodes.)
 */
export function nodeBudget(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const type = context.getSchema().getRootType(operation.operation);
      if (type === undefined || type === null) return;
      const counted = new Count(context);
      counted.add(operation.selectionSet, type, { depth: 1, times: 1 }, []);
      if (counted.problem !== null) context.reportError(counted.problem);
    },
  };
}

class Count {
  problem: GraphQLError | null = null;
  readonly #context: ValidationContext;
  #rows = 0;
  #selections = 0;

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  /** Counts a selection; `within` are the fragments that it stands in, since a document may spread one into itself. */
  add(selections: SelectionSetNode, type: GraphQLOutputType, level: Level, within: readonly string[]): void {
    for (const selection of selections.selections) {
      if (this.problem !== null) return;
      this.#selections += 1;
      if (this.#selections > MOST.selections)
        return this.#refuse(`it has more than ${MOST.selections} selections, with its fragments`);
      switch (selection.kind) {
        case Kind.FIELD:
          this.#addField(selection, type, level, within);
          break;
        case Kind.INLINE_FRAGMENT: {
          const { typeCondition, selectionSet } = selection;
          this.add(selectionSet, this.#named(typeCondition?.name.value) ?? type, level, within);
          break;
        }
        case Kind.FRAGMENT_SPREAD: {
          const name = selection.name.value;
          const fragment = this.#context.getFragment(name);
          if (fragment === null || fragment === undefined || within.includes(name)) break;
          this.add(fragment.selectionSet, this.#named(fragment.typeCondition.name.value) ?? type, level, [...within, name]);
          break;
        }
      }
    }
  }

  #addField(field: FieldNode, parent: GraphQLOutputType, { depth, times }: Level, within: readonly string[]): void {
    const named = getNamedType(parent);
    const definition = "getFields" in named ? named.getFields()[field.name.value] : undefined;
    // What the schema does not have is refused by another rule.
    if (definition === undefined || field.selectionSet === undefined || !("type" in definition)) return;
    if (depth >= MOST.depth) return this.#refuse(`it is nested more than ${MOST.depth} levels deep`);
    const { type } = definition;
    const rows = isConnection(type) ? times * pageOf(field) : times;
    if (isConnection(type)) this.#rows += rows;
    if (this.#rows > MOST.rows) return this.#refuse(`it asks for more than ${MOST.rows} rows`);
    this.add(
      field.selectionSet,
      isListType(getNullableType(type)) ? getNamedType(type) : type,
      { depth: depth + 1, times: rows },
      within,
    );
  }

  #named(name: string | undefined): GraphQLOutputType | undefined {
    const type = name === undefined ? undefined : this.#context.getSchema().getType(name);
    return type !== undefined && isObjectType(type) ? type : undefined;
  }

  #refuse(problem: string): void {
    this.problem = clientError("DOCUMENT_TOO_LARGE", `${problem}: ask for smaller pages (\`first\`), or in several operations`);
  }
}

function isConnection(type: GraphQLOutputType): boolean {
  return getNamedType(type).name.endsWith("Connection");
}

/** The size of the page that a field asks for. */
function pageOf({ arguments: given }: FieldNode): number {
  const size = given?.find(({ name }) => name.value === "first" || name.value === "last")?.value;
  if (size === undefined) return USUAL_PAGE;
  return size.kind === Kind.INT ? Math.min(Number(size.value), MAX_PAGE) : MAX_PAGE;
}
