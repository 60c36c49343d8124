import type { HLJSApi } from 'highlight.js';

/** The languages of code blocks, with the label of their tab. */
export const languages: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
  json: 'JSON',
  graphql: 'GraphQL',
  sql: 'SQL',
  yaml: 'YAML',
};

let highlighter: Promise<HLJSApi> | null = null;

/** Loads the highlighter for the first page that is read, so that an instance without readers never has it in memory. */
export function loadHighlighter(): Promise<HLJSApi> {
  highlighter ??= load();
  return highlighter;
}

async function load(): Promise<HLJSApi> {
  const { default: core } = await import('highlight.js/lib/core');
  const modules = {
    sh: import('highlight.js/lib/languages/bash'),
    ts: import('highlight.js/lib/languages/typescript'),
    python: import('highlight.js/lib/languages/python'),
    go: import('highlight.js/lib/languages/go'),
    php: import('highlight.js/lib/languages/php'),
    json: import('highlight.js/lib/languages/json'),
    graphql: import('highlight.js/lib/languages/graphql'),
    sql: import('highlight.js/lib/languages/sql'),
    yaml: import('highlight.js/lib/languages/yaml'),
  };
  for (const [name, module] of Object.entries(modules)) core.registerLanguage(name, (await module).default);
  return core;
}
