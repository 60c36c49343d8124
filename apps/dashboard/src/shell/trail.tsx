import { Link, useMatches } from '@tanstack/react-router';
import { Fragment } from 'react';
import { knownMe, knownWorkspace } from '../api/me.ts';
import { locate, spaceOf, visibleSections } from './navigation.ts';
import { words } from './strings.ts';

interface Step {
  readonly to: string;
  readonly word: string;
}

/** Returns the path of the page as shown. The location changes before the page does. */
export function useShownPath(): string {
  return useMatches({ select: (matches) => matches.at(-1)?.pathname ?? '/' });
}

/** Shows where the page is, from the workspace or the instance down to its own name. */
export function Trail({ name }: { readonly name: string }) {
  const pathname = useShownPath();
  const me = knownMe();
  if (!me || pathname === '/') return null;
  const steps = stepsTo(pathname).filter(({ word }) => word !== name);
  return (
    <nav className="trail" aria-label={words.breadcrumbs}>
      {steps.map(({ to, word }) => (
        <Fragment key={word}>
          <Link to={to} activeOptions={{ exact: true, includeSearch: false }}>
            {word}
          </Link>
          <span aria-hidden>/</span>
        </Fragment>
      ))}
      <span aria-current="page" className="cut">
        {name}
      </span>
    </nav>
  );
}

function stepsTo(pathname: string): readonly Step[] {
  const root =
    spaceOf(pathname) === 'instance'
      ? { to: '/instance/status', word: words.instance }
      : { to: '/', word: knownWorkspace()?.name ?? words.places.overview };
  const position = locate(pathname);
  if (!position) return [root];
  const { section, place, below } = position;
  const [first] = section.places;
  const is_root = section.places.every(({ to }) => to === place.to || to.startsWith(`${place.to}/`));
  return [
    root,
    ...(first && (below || !is_root) && first.to !== root.to ? [{ to: first.to, word: section.word }] : []),
    ...(below && !is_root ? [{ to: place.to, word: place.word }] : []),
  ];
}

/** Shows the pages of the current section as tabs, each with an address of its own. */
export function PlaceTabs() {
  const pathname = useShownPath();
  const me = knownMe();
  const position = locate(pathname);
  if (!me || !position || position.below) return null;
  const section = visibleSections(me).find(({ places }) => places.some(({ to }) => to === position.place.to));
  if (!section || section.places.length < 2) return null;
  return (
    <nav className="tabs" aria-label={words.pagesOf(section.word)}>
      {section.places.map(({ to, word }) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {word}
        </Link>
      ))}
    </nav>
  );
}
