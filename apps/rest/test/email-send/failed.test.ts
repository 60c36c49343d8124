import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorOf, rateOf, startRest } from '../rest-server.ts';
import { hello, keyed, openSender, post, world } from './send-fixture.ts';

openSender();

describe('500', () => {
  it('a database failure returns the rate headers and no internal details', async () => {
    const cut = await world.peer();
    await cut.sql.end();
    const lost = await startRest(cut, world.secret);

    const response = await lost.call('POST', '/email/send', { body: hello });

    expect(response.status).toBe(500);
    expect(errorOf(response)).toMatchObject({ code: 'internal_error', reason: 'unexpected' });
    expect(response.text).not.toMatch(/CONNECTION|select|postgres:|at .*\.ts/i);
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 1000, remaining: 0 });
    await lost.stop();
  });

  it('no JSON value causes an internal error', async () => {
    await world.services.sql`update plans set send_per_minute = 1000000 where name = 'business'`;
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.emailAddress(),
    );
    const anything = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue());
    const nearly = fc.record(
      {
        from: fc.oneof(fc.constant('a@good.test'), anything),
        to: fc.oneof(fc.emailAddress(), fc.array(fc.oneof(fc.emailAddress(), text)), anything),
        subject: anything,
        html: anything,
        text: anything,
        cc: fc.oneof(fc.array(fc.emailAddress()), anything),
        bcc: anything,
        reply_to: fc.oneof(fc.emailAddress(), anything),
        headers: fc.oneof(fc.dictionary(text, text), anything),
        tags: fc.oneof(fc.array(text), anything),
        metadata: fc.oneof(fc.dictionary(text, text), anything),
        attachments: fc.oneof(
          fc.array(
            fc.record(
              { filename: anything, content: fc.base64String(), content_type: anything, content_id: anything },
              { requiredKeys: [] },
            ),
          ),
          anything,
        ),
        scheduled_at: fc.oneof(
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          anything,
        ),
      },
      { requiredKeys: [] },
    );
    // Inputs that are valid except for one field, so that every field's strangest values reach the store.
    const one_off = nearly.chain((fields) =>
      fc.constantFrom(...Object.keys(fields), 'subject').map((name) => ({
        ...hello,
        ...(name in fields && { [name]: Reflect.get(fields, name) }),
      })),
    );

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          { weight: 1, arbitrary: fc.jsonValue() },
          { weight: 2, arbitrary: nearly },
          { weight: 3, arbitrary: one_off },
        ),
        fc.option(fc.string({ minLength: 1, maxLength: 20 }).filter((key) => /^[!-~]+$/.test(key))),
        async (body, key) => {
          const response = await post(JSON.stringify(body), key === null ? {} : keyed(key));

          expect([202, 400, 422], response.text).toContain(response.status);
          if (response.status !== 202) errorOf(response);
        },
      ),
      { numRuns: 400 },
    );

    for (const { data } of await world.drain()) expect(data).toBeDefined();
    const stuck = await world.services.sql`select id from recipients where state in ('queued', 'sending')`;
    expect(stuck).toEqual([]);
  });
});
