export { breakingChangesOf, parseDocument, schemaText } from './graphql/schema-text.ts';
export { createHandler } from './listener.ts';
export { requireSession } from './session/session.ts';
export { type AppRouter, procedureNames } from './trpc/router.ts';
