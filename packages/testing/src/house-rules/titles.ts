import { at, type HouseRule, isTest, sourceOf } from './tree.ts';

/** Words that continue a sentence whose subject is elsewhere. */
const FRAGMENT = [
  'that|which|whose|who|whom|what|where|when|while|than|as|if|nor|and|but|or',
  'of|by|in|with|without|to|for|from|at|on|after|before|behind|below|over|under|between',
].join('|');

// Ids of findings, such as "promise P5:" or "chaos C7, newcomer N7:", precede a title.
const IDS = String.raw`(?:[a-z]+ [A-Z]?\d+(?:, (?:[a-z]+ )?[A-Z]?\d+)*: )?`;
// The title of a table follows its rows: it.each(rows)('title'.
const CALL = String.raw`(?:(?<![\w.$])(?:it|test)(?:\.\w+)*|[)\x60])\(\s*`;
const TITLE = new RegExp(String.raw`${CALL}(['"\x60])${IDS}(${FRAGMENT})(?=\s)`, 'g');

/** Requires that a test title starts with its subject, because a title in a list of failures is read on its own. */
export const subjectFirst: HouseRule = (files) =>
  files
    .filter(({ path }) => isTest(path))
    .flatMap((file) => {
      const { bare, code } = sourceOf(file);
      return (
        [...code.matchAll(TITLE)]
          // A call inside a string is not a test.
          .filter((match) => bare[match.index] === code[match.index])
          .map((match) => at(file, match.index, `${match[2]}: begin the title with its subject`))
      );
    });
