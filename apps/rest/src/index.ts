export { createHandler } from './handle.ts';
export { createMalformedHandler } from './malformed.ts';
export { openApiDocument } from './openapi.ts';
