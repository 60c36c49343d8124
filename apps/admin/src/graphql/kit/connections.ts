import { cursorOf, type List } from '@postrider/core';
import type { ArgBuilder, InputRef, ObjectRef } from '@pothos/core';
import { builder, type SchemaShape } from './builder.ts';

type Schema = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>;

export interface Edge<T> {
  readonly node: T;
  readonly cursor: string;
}

/** A page as a Relay connection. */
export interface Connection<T> {
  readonly edges: readonly Edge<T>[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** Declares <Name>Edge for a type once, so that connections and streams share the edge type. */
export function edgeOf<T>(type: ObjectRef<Schema, T>): ObjectRef<Schema, Edge<T>> {
  const known = edges.get(type);
  // The plugin types edges by a node's shape before loading, but our nodes are already loaded.
  const edge = (known ?? builder.edgeObject({ type, name: `${type.name}Edge` })) as ObjectRef<Schema, Edge<T>>;
  edges.set(type, edge);
  return edge;
}

const edges = new WeakMap<object, unknown>();

/** Declares <Name>Connection and <Name>Edge for a type once. */
export function connectionOf<T>(type: ObjectRef<Schema, T>): ObjectRef<Schema, Connection<T>> {
  const edge = edgeOf(type);
  const connection = builder.connectionObject({ type, name: `${type.name}Connection` }, edge);
  // The plugin types edges by a node's shape before loading, but our nodes are already loaded.
  return connection as unknown as ObjectRef<Schema, Connection<T>>;
}

/** Returns the arguments of every connection. Pagination is forward only, as in REST lists. */
export function pageArgs(t: { readonly arg: ArgBuilder<Schema> }) {
  return {
    first: t.arg.int({ defaultValue: 20, description: 'Number of entries per page, from 1 to 100.' }),
    after: t.arg.string({
      description: 'endCursor of the previous page, or the cursor of any edge, with the same filter.',
    }),
  };
}

/** Returns the filter argument of a list. */
export function filterArg<T>(t: { readonly arg: ArgBuilder<Schema> }, type: InputRef<T>) {
  return t.arg({ type, description: 'Only entries that match. Default: all.' });
}

/** Returns a backward page. The list's has_more and next_cursor describe the entries before the page. */
export function connectionBefore<T extends { readonly id: string }>(
  list: List<T>,
  before: string | null | undefined,
): Connection<T> {
  const { edges, pageInfo } = connectionFrom(list, null);
  return {
    edges,
    pageInfo: {
      hasNextPage: before != null,
      hasPreviousPage: list.has_more,
      get startCursor() {
        return list.next_cursor ?? edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? pageInfo.startCursor;
      },
    },
  };
}

/** Converts a list from core to a connection. Edges use REST cursors, which are computed only when selected. */
export function connectionFrom<E extends { readonly id: string }, T extends { readonly id: string } = E>(
  list: List<E>,
  after: string | null | undefined,
  nodeOf: (entry: E) => T = identity,
): Connection<T> {
  const edges = list.data.map((entry) => new ListEdge(list, nodeOf(entry)));
  return {
    edges,
    pageInfo: {
      hasNextPage: list.has_more,
      hasPreviousPage: after != null,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      // A page may contain fewer entries than its limit because the filter skipped some.
      get endCursor() {
        return list.next_cursor ?? edges.at(-1)?.cursor ?? null;
      },
    },
  };
}

/** Returns core's entry unchanged, as the default for `nodeOf`. */
function identity<T>(entry: unknown): T {
  // Without a nodeOf, the two types are the same because of the type parameter's default.
  return entry as T;
}

class ListEdge<T extends { readonly id: string }> implements Edge<T> {
  readonly node: T;
  readonly #list: List<unknown>;

  constructor(list: List<unknown>, node: T) {
    this.#list = list;
    this.node = node;
  }

  get cursor(): string {
    return cursorOf(this.#list, this.node.id);
  }
}
