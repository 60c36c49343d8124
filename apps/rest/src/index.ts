export { createHandler } from './handle.ts';
export { openApiDocument } from './openapi.ts';
