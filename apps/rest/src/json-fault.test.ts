import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from './json-fault.ts';

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('jsonFault', () => {
  it.each([
    ['', 'line 1, column 1: the body ends where a value should follow'],
    ['{', 'line 1, column 2: the body ends where a name in double quotes or } should follow'],
    ['{"a":1', 'line 1, column 7: the body ends where a comma or } should follow'],
    ['{"a":"b', 'line 1, column 8: the body ends inside of a string'],
    ['{"a" 1}', 'line 1, column 6: "1" stands where a colon should'],
    ['{"a":1,}', 'line 1, column 8: a comma before "}"; remove it'],
    ['[1,]', 'line 1, column 4: a comma before "]"; remove it'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: "\\"" stands where a comma or } should'],
    ['{\r\n\t"a": \'b\'}', 'line 2, column 7: names and strings take double quotes'],
    ['{a: 1}', 'line 1, column 2: names and strings take double quotes'],
    ["{'a': 1}", 'line 1, column 2: names and strings take double quotes'],
    ['{"a":"b\nc"}', 'line 1, column 8: a line break or control character inside of a string; write it as an escape'],
    ['{"a":"C:\\dir"}', 'line 1, column 9: an unknown escape; a backslash itself is written twice'],
    ['{"a":"\\u00zz"}', 'line 1, column 7: an unknown escape; a backslash itself is written twice'],
    ['{"a":True}', 'line 1, column 6: "T" stands where a value should'],
    ['{"a":01}', 'line 1, column 7: "1" stands where a comma or } should'],
    ['{"a":1}}', 'line 1, column 8: "}" follows the end of the value'],
    ['{} {}', 'line 1, column 4: "{" follows the end of the value'],
    ['[}', 'line 1, column 2: "}" stands where a value or ] should'],
    ['hello', 'line 1, column 1: "h" stands where a value should'],
    ['\u00a0{}', 'line 1, column 1: "\u00a0" stands where a value should'],
  ])('reports the error in %j: %s (newcomer N11)', (text, message) => {
    expect(isJson(text)).toBe(false);
    expect(jsonFault(text)).toBe(message);
  });

  it('locates the error in any text that JSON.parse rejects, but never before the damaged position', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom(',', '"', '}', ']', ':', 'x', '\\', ''), (json, place, put) => {
        const at = place % json.length;
        const damaged = json.slice(0, at) + put + json.slice(at + 1);
        fc.pre(!isJson(damaged));
        expect(jsonFault(damaged)).toMatch(/^line \d+, column \d+: \S/);
      }),
    );
  });

  it('handles deep nesting and long strings without a stack overflow', () => {
    expect(jsonFault('['.repeat(1_000_000))).toMatch(/^line 1, column 1000001: /);
    expect(jsonFault(`{"a":"${'x'.repeat(5_000_000)}"`)).toMatch(/ends where a comma or \}/);
  });
});
