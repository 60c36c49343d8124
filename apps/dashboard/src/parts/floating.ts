const GAP = 6;
const EDGE = 8;

/** Positions an element within the window, below its anchor or above it if there is no room. */
export function placeBeside(anchor: Element, floating: HTMLElement): void {
  const { left, top, bottom } = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = floating;
  const below = bottom + GAP + height <= innerHeight - EDGE;
  floating.style.top = `${Math.max(EDGE, below ? bottom + GAP : top - GAP - height)}px`;
  floating.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
}
