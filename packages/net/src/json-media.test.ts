import { describe, expect, it } from 'vitest';
import { jsonMediaProblem } from './json-media.ts';

describe('jsonMediaProblem', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF8',
    'application/json ; Charset="utf-8"',
    'application/json; profile="a"',
  ])('accepts %s', (type) => {
    expect(jsonMediaProblem(type)).toBeNull();
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'application/graphql',
    'application/graphql+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/json, application/json',
    'application/jsonp',
  ])('suggests application/json if %s is sent', (type) => {
    expect(jsonMediaProblem(type)).toContain('Content-Type: application/json');
  });

  it.each(['latin1', 'utf-16', '"iso-8859-1"', ''])('reports the unsupported charset %s (newcomer N11)', (charset) => {
    const problem = jsonMediaProblem(`application/json; charset=${charset}`);

    expect(problem).toContain('UTF-8');
    expect(problem).toContain(charset.replaceAll('"', ''));
  });
});
