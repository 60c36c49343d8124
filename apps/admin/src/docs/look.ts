import { readFileSync } from 'node:fs';

// Shared with the dashboard so that branding changes in one place.
const tokens = readFileSync(new URL('../../../dashboard/src/style/tokens.css', import.meta.url), 'utf8');

export const style = `${tokens}
  body { margin: 0; background: var(--bg); color: var(--text); font: 1rem/1.6 var(--font); }
  a { color: var(--accent); } a:hover { color: var(--accent-hover); } :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
  .layout { display: grid; grid-template-columns: 15rem minmax(0, 48rem); gap: 3rem; max-width: 68rem; margin: 0 auto; padding: 1.5rem; }
  nav h2 { font-size: var(--text-s); margin: 1.2rem 0 .3rem; color: var(--muted); }
  nav ul { list-style: none; margin: 0; padding: 0; }
  nav li a { display: block; padding: .15rem 0; color: var(--text); text-decoration: none; }
  nav a[aria-current] { font-weight: 600; }
  h1 { margin-top: 0; line-height: 1.2; } h2 { margin-top: 2.2rem; } h3 { margin-top: 1.8rem; }
  .anchor { opacity: 0; text-decoration: none; } :is(h1, h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
  code { font: .9em/1.5 var(--mono); background: var(--sunken); padding: .1em .25em; border-radius: 3px; overflow-wrap: anywhere; }
  figure { margin: 1rem 0; position: relative; }
  pre { overflow-x: auto; background: var(--sunken); border: 1px solid var(--line); border-radius: var(--radius); padding: .8rem 1rem; margin: 0; }
  pre code { background: none; padding: 0; overflow-wrap: normal; }
  .language { position: absolute; right: .6rem; top: .3rem; font-size: var(--text-xs); color: var(--faint); }
  .wide { overflow-x: auto; } table { border-collapse: collapse; }
  th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
  input { font: inherit; width: 100%; box-sizing: border-box; padding: .3rem .5rem; color: inherit; background: var(--surface); border: 1px solid var(--line-strong); border-radius: var(--radius); }
  @media (max-width: 50rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; } }
`;
