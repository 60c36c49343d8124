import type { Page } from 'playwright-core';

/** Reports what a reader could not see whole: sideways scrolling, and clipped or overlapping controls and names. */
export function layoutProblems(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${inPage})()`);
}

/** The least that must be left of a name that ends in an ellipsis. */
const MIN_NAME_PX = 64;

/** Runs in the page, so it must not refer to anything outside. */
const inPage = `() => {
  const problems = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.add('the page scrolls sideways: ' + root.scrollWidth);
  const layer = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body;
  const is_shown = (one) =>
    one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && one.offsetWidth > 1;
  const label = (one) =>
    one.tagName.toLowerCase() + ' "' + (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40) + '"';
  const shownBox = (one) => {
    let { left, right, top, bottom } = one.getBoundingClientRect();
    for (let around = one.parentElement; around && around !== layer; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const box = around.getBoundingClientRect();
      left = Math.max(left, box.left);
      right = Math.min(right, box.right);
      top = Math.max(top, box.top);
      bottom = Math.min(bottom, box.bottom);
    }
    return { left, right, top, bottom };
  };
  const controls = [...layer.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(
    (one) => is_shown(one) && !one.matches('.skip'),
  );
  for (const control of controls) {
    const { left, right } = control.getBoundingClientRect();
    for (let around = control.parentElement; around && around !== layer; around = around.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(around);
      if (overflowX === 'visible') continue;
      const box = around.getBoundingClientRect();
      if (left >= box.left - 1 && right <= box.right + 1) continue;
      if (textOverflow !== 'ellipsis' || box.right - left < ${MIN_NAME_PX}) problems.add('clipped: ' + label(control));
      break;
    }
    const shown = shownBox(control);
    if (shown.left < -1 || shown.right > root.clientWidth + 1) problems.add('outside: ' + label(control));
  }
  for (const one of layer.querySelectorAll('*')) {
    if (!is_shown(one) || one.matches('input, select, textarea, pre, code, iframe')) continue;
    const { overflowX, textOverflow } = getComputedStyle(one);
    if (overflowX !== 'hidden' && overflowX !== 'clip') continue;
    if (one.scrollWidth <= one.clientWidth + 1) continue;
    if (textOverflow !== 'ellipsis' || one.clientWidth < ${MIN_NAME_PX})
      problems.add('cut to ' + one.clientWidth + ' px: ' + label(one));
  }
  const boxes = controls.map((one) => [one, shownBox(one)]);
  for (const [at, [one, box]] of boxes.entries())
    for (const [other, beside] of boxes.slice(at + 1)) {
      if (one.contains(other) || other.contains(one)) continue;
      const width = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
      const height = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
      if (width > 2 && height > 2) problems.add('overlapping: ' + label(one) + ' and ' + label(other));
    }
  return [...problems];
}`;
