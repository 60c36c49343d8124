import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createSigner, newWebhookSecret } from './signing.ts';

const AT = new Date('2026-12-01T10:00:00.900Z');
const BODY = Buffer.from('{"subject":"Grüße 😀"}');

describe('the signature of a webhook', () => {
  const secret = newWebhookSecret();

  it.each([
    ['with its prefix', secret],
    ['without its prefix', secret.slice('whsec_'.length)],
    ['without its padding', secret.replace(/=+$/, '')],
  ])('is that of the reference library, for a secret %s', (_, given_secret) => {
    const headers = createSigner([given_secret])('evt_1', AT.getTime(), BODY);

    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1796119200',
      'webhook-signature': new Webhook(secret).sign('evt_1', AT, BODY.toString()),
    });
  });

  it('is one per secret, under the names of Svix for the format of Resend', () => {
    const previous = newWebhookSecret();

    const headers = createSigner([secret, previous], 'resend')('evt_1', AT.getTime(), BODY);

    expect(headers['svix-signature']?.split(' ')).toEqual(
      [secret, previous].map((one) => new Webhook(one).sign('evt_1', AT, BODY.toString())),
    );
  });

  it.each(['', 'whsec_', 'whsec_not base64', 'whsec_YWJj\n', 'whsec_YWJjZ', 'whsec_YW=Jj', 'whsec_-_-_'])(
    'rejects a secret that is not base64: %j',
    (text) => {
      expect(() => createSigner([text])).toThrow('not base64');
    },
  );
});
