export { type CauseName, causeNames, causes } from './causes.ts';
export { type Explanation, explainResponse } from './explain-response.ts';
