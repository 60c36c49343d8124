import { describe, expect, it } from 'vitest';
import { attachmentsText, isBase64 } from './attachment-field.ts';

const STRICT = /^[A-Za-z0-9+/]*={0,2}$/;

describe('attachment content', () => {
  it.each([
    [4, 'A/=-_! \nÄ'],
    [8, 'A=!'],
  ])(
    'fairness P28: base64 of %i characters of %j is accepted if and only if it matches a strict regular expression',
    (length, alphabet) => {
      let texts = [''];
      for (let at = 0; at < length; at++) texts = texts.flatMap((text) => [...alphabet].map((mark) => text + mark));

      expect(texts.filter(isBase64)).toEqual(texts.filter((text) => STRICT.test(text)));
      expect(isBase64('A'.repeat(length - 1))).toBe(false);
    },
  );

  it.each([0, 64 * 1024 - 4, 64 * 1024, 128 * 1024, 160 * 1024])(
    'base64 of many pieces is rejected if the group at character %i is padded or invalid',
    (at) => {
      const text = 'QUJD'.repeat(48 * 1024);
      const withGroup = (group: string) => text.slice(0, at) + group + text.slice(at + 4);

      expect(isBase64(withGroup('QUJD'))).toBe(true);
      for (const group of ['QQ==', 'QUI=', 'QU-D', 'QU D', '====']) expect(isBase64(withGroup(group))).toBe(false);
    },
  );

  it('survives a JSON round trip', () => {
    const attachments = [
      { filename: 'a "quoted" name.txt', content: 'SGVsbG8=', content_type: 'text/plain', content_id: undefined },
      { filename: 'b', content: '', content_type: undefined, content_id: 'logo' },
    ];

    expect(JSON.parse(attachmentsText(attachments))).toEqual(JSON.parse(JSON.stringify(attachments)));
    expect(attachmentsText([])).toBe('[]');
  });
});
