import { expect, it } from 'vitest';
import { cleanRemoteText } from './remote-text.ts';

it('a text from the network keeps nothing that a row or a terminal would stumble over', () => {
  expect(cleanRemoteText('a\u0000b\r\nc\u001b\u009bd\ud800')).toBe('a b c d\ufffd');
});
