import { readReturnedMail } from '@postrider/mail';
import { describe, expect, it } from 'vitest';
import { asianServices } from '../../test/returned/asian-services.ts';
import type { Meaning, ReturnedFixture } from '../../test/returned/fixture.ts';
import { gateways } from '../../test/returned/gateways.ts';
import { installedServers } from '../../test/returned/installed-servers.ts';
import { mailServices } from '../../test/returned/mail-services.ts';
import { notBounces } from '../../test/returned/not-bounces.ts';
import { officeServers } from '../../test/returned/office-servers.ts';
import { publicProviders } from '../../test/returned/public-providers.ts';
import { repliesAndNotices } from '../../test/returned/replies-and-notices.ts';
import { unixServers } from '../../test/returned/unix-servers.ts';
import { unseen } from '../../test/returned/unseen.ts';
import { judgeReturned } from './record-returned.ts';

const fixtures: readonly ReturnedFixture[] = [
  ...unixServers,
  ...officeServers,
  ...gateways,
  ...mailServices,
  ...asianServices,
  ...notBounces,
  ...installedServers,
  ...publicProviders,
  ...repliesAndNotices,
  ...unseen,
];

function meaningOf({ raw, from }: ReturnedFixture): Meaning {
  const verdict = judgeReturned(readReturnedMail(raw, from), 'ada@example.net');
  if (verdict.what === 'nothing') return 'ignored';
  if (verdict.what === 'complain') return 'complaint';
  if (verdict.what === 'delay') return 'delay';
  const { class: hardness, category } = verdict.bounce;
  // Only a hard bounce is ever suppressed.
  return `${hardness} ${category}${verdict.suppress ? ' suppress' : ''}` as Meaning;
}

describe('returned mail: real R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14', () => {
  it.each(fixtures.map((fixture) => [fixture.family, fixture.title, fixture.meaning, fixture] as const))(
    'a message from %s: %s is classified as %s',
    (_family, _title, meaning, fixture) => {
      expect(meaningOf(fixture)).toBe(meaning);
    },
  );
});
