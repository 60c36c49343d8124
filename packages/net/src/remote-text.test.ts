import { expect, it } from 'vitest';
import { cleanRemoteText } from './remote-text.ts';

it('leaves nothing in a text from the network that a row or a terminal would stumble over', () => {
  expect(cleanRemoteText('a\u0000b\r\nc\u001b\u009bd\ud800')).toBe('a b c d\ufffd');
});
