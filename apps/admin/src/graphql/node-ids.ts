import { type IdKind, idPrefixes } from '@postrider/core';

const typenames = new Map<string, string>();

/** Says which type the ids of a kind belong to. */
export function claimIds(kind: IdKind, typename: string): void {
  typenames.set(idPrefixes[kind], typename);
}

/** The type that an id belongs to by its prefix, or null. */
export function typenameOf(id: string): string | null {
  return typenames.get(id.slice(0, id.indexOf('_') + 1)) ?? null;
}
