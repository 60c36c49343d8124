export { breakingChangesOf, parseDocument, schemaText } from './graphql/schema-text.ts';
export { createHandler } from './listener.ts';
export { requireSession } from './session.ts';
export type { AppRouter } from './trpc/router.ts';
