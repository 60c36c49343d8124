export { bearerToken } from './bearer-token.ts';
export { createFeedbackHandler } from './feedback.ts';
export { createHandler } from './handle.ts';
export { createMalformedHandler } from './malformed.ts';
export { openApiDocument } from './openapi.ts';
export { createResendHandler } from './resend/handle.ts';
export { camelCase, pascalCase, sdkNames } from './samples/sdk-call.ts';
