import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** The size of a document as it would be executed. */
export interface DocumentForm {
  readonly fragments: number;
  /** Fields, spreads, and inline fragments. Each fragment is counted everywhere it is spread. */
  readonly selections: number;
  /** The number of selections visited while measuring. */
  readonly visited: number;
}

export const MAX_FRAGMENTS = 50;
/** The limit across all operations in a document. GraphiQL's introspection query has about 300. */
export const MAX_SELECTIONS = 1000;

/**
 * Measures a document by its syntax alone, before any rule or plan follows its fragments: forty fragments that each
 * spread the next one twice take a kilobyte but expand to 2^40 selections. Each fragment is visited once, so the time
 * is linear in the size of the document. A fragment nested in itself counts as 0; validation rejects it.
 */
export function formOf(document: DocumentNode): DocumentForm {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  const sizes = new Map<string, number>();
  let visited = 0;

  const fragmentSize = (name: string): number => {
    const before = sizes.get(name);
    if (before !== undefined) return before;
    const fragment = fragments.get(name);
    // A fragment that contains itself finds this entry while it is being measured.
    sizes.set(name, 0);
    const size = fragment ? sizeOf(fragment.selectionSet) : 0;
    sizes.set(name, size);
    return size;
  };

  const sizeOf = ({ selections }: SelectionSetNode): number => {
    let size = 0;
    for (const one of selections) {
      visited += 1;
      size += 1;
      if (one.kind === Kind.FRAGMENT_SPREAD) size += fragmentSize(one.name.value);
      else if (one.selectionSet) size += sizeOf(one.selectionSet);
    }
    return size;
  };

  let selections = 0;
  for (const one of document.definitions) {
    if (one.kind === Kind.OPERATION_DEFINITION) selections += sizeOf(one.selectionSet);
  }
  // Fragments that no operation spreads are also validated.
  for (const name of fragments.keys()) fragmentSize(name);
  return { fragments: fragments.size, selections, visited };
}

/** Returns the problem with a document's form, or null if there is none. */
export function formProblem({ fragments, selections }: DocumentForm): string | null {
  if (fragments > MAX_FRAGMENTS) return `The document has ${fragments} fragments. The maximum is ${MAX_FRAGMENTS}.`;
  if (selections <= MAX_SELECTIONS) return null;
  return `The document selects more than ${MAX_SELECTIONS} fields with fragments expanded. Request fewer.`;
}
