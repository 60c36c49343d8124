import { readFileSync } from 'node:fs';

// Shared with the dashboard so that branding changes in one place.
const tokens = readFileSync(new URL('../../../dashboard/src/style/tokens.css', import.meta.url), 'utf8');

/** Shows the sample in the reader's language in each group, and its first one if it has none in that language. */
const tabs = ['sh', 'ts', 'python', 'go', 'php']
  .map(
    (language) => `
  [data-script][data-language="${language}"] .tabs:has(figure[data-language="${language}"]) > figure:not([data-language="${language}"]),
  [data-script][data-language="${language}"] .tabs:not(:has(figure[data-language="${language}"])) > figure:not(.choices + figure)`,
  )
  .concat('\n  [data-script][data-language=""] .tabs > figure:not(.choices + figure)')
  .join(',');

export const style = `${tokens}
  html { scroll-padding-top: 4.5rem; }
  body { margin: 0; background: var(--bg); color: var(--text); font: 1rem/1.6 var(--font); }
  a { color: var(--accent); } a:hover { color: var(--accent-hover); } :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
  header { position: sticky; top: 0; z-index: 2; display: flex; gap: 1.25rem; align-items: center; padding: .6rem 1.5rem; background: var(--bg); border-bottom: 1px solid var(--line); }
  header > a { color: var(--text); text-decoration: none; white-space: nowrap; }
  header form { position: relative; flex: 1; max-width: 28rem; margin-right: auto; }
  #suggestions { position: absolute; top: 100%; left: 0; right: 0; max-height: 60vh; overflow-y: auto; background: var(--surface); border-radius: var(--radius); box-shadow: var(--shadow); }
  #suggestions a { display: block; padding: .4rem .7rem; color: var(--muted); text-decoration: none; } #suggestions strong { color: var(--text); font-weight: 500; }
  #suggestions a:is(:hover, [aria-selected="true"]) { background: var(--selected); }
  .layout { display: grid; grid-template: "pages main contents" / 14rem minmax(0, 46rem) 13rem; gap: 3rem; justify-content: center; padding: 1.5rem; }
  main { grid-area: main; min-width: 0; overflow-wrap: anywhere; } .pages { grid-area: pages; } .contents { grid-area: contents; }
  .pages, .contents { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 6rem); overflow-y: auto; font-size: var(--text-m); }
  .layout > nav h2 { font-size: var(--text-s); margin: 1.2rem 0 .3rem; color: var(--muted); } .layout > nav h2:first-child { margin-top: 0; }
  .layout > nav ul, .above ul { list-style: none; margin: 0; padding: 0; }
  .layout > nav li a, .above li a { display: block; padding: .2rem 0; color: var(--text); text-decoration: none; }
  .layout > nav a:hover { color: var(--accent-hover); } nav a[aria-current] { font-weight: 600; }
  .pages-link, .above { display: none; }
  .wide-page { grid-template: "pages main" / 14rem minmax(0, 76rem); } .wide-page > .contents { display: none; } .wide-page .above { display: block; margin-bottom: 1.5rem; }
  .operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2.5rem; }
  .samples { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 6rem); overflow-y: auto; font-size: var(--text-m); } .samples pre { max-height: 24rem; }
  main em { font-style: normal; color: var(--muted); }
  .neighbors { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
  .neighbors small { display: block; color: var(--muted); } .neighbors a:last-child { text-align: right; }
  h1 { margin-top: 0; line-height: 1.2; } h2 { margin-top: 2.2rem; } h3 { margin-top: 1.8rem; }
  .anchor { opacity: 0; text-decoration: none; } :is(h1, h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
  code { font: .9em/1.5 var(--mono); background: var(--sunken); padding: .1em .25em; border-radius: 3px; overflow-wrap: anywhere; }
  figure { margin: 1rem 0; position: relative; }
  figcaption { position: absolute; right: 4.2rem; top: .45rem; font-size: var(--text-xs); color: var(--muted); pointer-events: none; }
  pre { overflow-x: auto; background: var(--sunken); border: 1px solid var(--line); border-radius: var(--radius); padding: .8rem 1rem; margin: 0; }
  figure:has(figcaption) pre { padding-top: 2rem; }
  pre code { background: none; padding: 0; overflow-wrap: normal; }
  .copy, .choices button { font: inherit; font-size: var(--text-xs); color: var(--muted); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: .1rem .5rem; cursor: pointer; }
  .copy { position: absolute; right: .5rem; top: .4rem; min-width: 3.4rem; }
  .choices { display: none; gap: .3rem; margin: 1rem 0 -.5rem; flex-wrap: wrap; } [data-script] .choices { display: flex; }
  .choices button[aria-pressed="true"] { color: var(--text); border-color: var(--line-strong); }
  ${tabs} { display: none; }
  [data-script] .tabs figcaption { display: none; }
  .hljs-comment, .hljs-quote, .hljs-meta { color: var(--muted); }
  .hljs-keyword, .hljs-literal, .hljs-selector-tag { color: var(--accent); }
  .hljs-string, .hljs-regexp { color: var(--good); }
  .hljs-number, .hljs-attr, .hljs-variable, .hljs-symbol { color: var(--wait); }
  .hljs-title, .hljs-built_in, .hljs-type, .hljs-section { color: var(--info); }
  .wide { overflow-x: auto; } table { border-collapse: collapse; }
  th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
  input, select, textarea { font: inherit; box-sizing: border-box; max-width: 100%; padding: .3rem .5rem; color: inherit; background: var(--surface); border: 1px solid var(--line-strong); border-radius: var(--radius); }
  header input { width: 100%; }
  @media (max-width: 78rem) { .layout { grid-template: "pages main" / 14rem minmax(0, 46rem); } .contents { display: none; } .above { display: block; margin-bottom: 1.5rem; } }
  @media (max-width: 72rem) { .operation { grid-template-columns: minmax(0, 1fr); gap: 0; } .samples { position: static; max-height: none; } }
  @media (max-width: 52rem) {
    header { gap: .8rem; padding: .5rem 1rem; font-size: var(--text-m); } .layout { grid-template: "main" "pages" / minmax(0, 1fr); gap: 2rem; padding: 1rem; }
    .pages { position: static; max-height: none; border-top: 1px solid var(--line); padding-top: 1rem; } .pages-link { display: block; }
    header > a:last-child, header > a:nth-last-child(2) { display: none; }
  }
`;
