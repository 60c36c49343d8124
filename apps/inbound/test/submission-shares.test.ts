import { openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { afterAll, describe, expect, it } from 'vitest';
import { startSubmission } from '../src/submission.ts';

const world = await openWorld();
await world.domain('good.test');
const submission = await startSubmission(world.services, 0, { implicit: false });
afterAll(() => submission.stop());

const program = (pass: string) =>
  createTransport({ host: '127.0.0.1', port: submission.port, auth: { user: 'api', pass } });
const hello = { from: 'shop@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

/** More parts than the parser takes, in 80 kB. */
function manyParts() {
  const part = '--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment\r\n\r\nx\r\n';
  const head = 'From: shop@good.test\r\nTo: ada@example.com\r\nSubject: Parts\r\nMIME-Version: 1.0\r\n';
  const raw = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(1100)}--b--\r\n`;
  return { raw, envelope: { from: 'shop@good.test', to: ['ada@example.com'] } };
}

const responseOf = (sending: Promise<{ readonly response: string }>): Promise<string> =>
  sending.then(
    ({ response }) => response,
    (error: { readonly response?: string }) => error.response ?? String(error),
  );

describe('the parsing of submitted messages', () => {
  it('fairness N2: ends by the error of the parser, and does not hold up another workspace', async () => {
    const neighbor = await world.workspace('business');
    await world.domain('neighbor.test', neighbor.workspace_id);
    const greedy = Array.from({ length: 8 }, () => responseOf(program(world.secret).sendMail(manyParts())));

    const begun = performance.now();
    const response = await responseOf(program(neighbor.secret).sendMail({ ...hello, from: 'shop@neighbor.test' }));

    expect(response).toMatch(/^250 /);
    expect(performance.now() - begun).toBeLessThan(5000);
    for (const rejected of await Promise.all(greedy)) expect(rejected).toMatch(/^554 5\.6\.0/);
    expect(world.logged).toContainEqual(
      expect.objectContaining({
        msg: 'a submitted message could not be read',
        why: expect.stringContaining('Max allowed child nodes exceeded'),
        workspace_id: world.workspace_id,
      }),
    );
  });

  it('fairness N2: counts in the send window before it begins, and is rejected once that is used up', async () => {
    const { secret, id } = await world.key({ scopes: ['email:send'] });
    const used = async () => {
      const [row] = await world.services.sql<{ used: number }[]>`
        select used from rate_windows where class = 'send' and subject = ${id} order by minute desc limit 1`;
      return row?.used ?? 0;
    };

    await responseOf(program(secret).sendMail(manyParts()));
    expect(await used()).toBe(1);
    await responseOf(program(secret).sendMail(hello));
    expect(await used()).toBe(2);
  });
});
