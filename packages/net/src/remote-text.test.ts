import { expect, it } from 'vitest';
import { cleanRemoteText } from './remote-text.ts';

it('text from the network contains nothing that could break a row or a terminal', () => {
  expect(cleanRemoteText('a\u0000b\r\nc\u001b\u009bd\ud800')).toBe('a b c d\ufffd');
});
