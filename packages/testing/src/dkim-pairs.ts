import { createPrivateKey } from 'node:crypto';
import type { DkimPairs } from '@postrider/core/domains';

// Fixed PKCS #8 keys: generating an RSA key per world would take longer than most tests.
const RSA = [
  'MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCSn2hpDYKo2UySrDcLIYcmFEb/qj5jejIeHaj7korv34ypE6fX',
  'PaARnuvCcM24hvNuyRq3tmsV+WlTB+4CChB6qBbXajf3tbRQNdzwH55VotEaX0o3RdhZXwZhMFFhu6CEKLQ9oKeWwdgsu4P8ee4o',
  'rrzP0OCSga0VnPG0gssZz2LN2/AaFei98vkNjlpNus1pJ7aYn3tqRDTw580NxZVwmCIb8AXbYdmf5BCGv/rI+9OPC5A+oo3Ntfi+',
  'TPnQTqb8iHxashmRKigprCc8Tt3rtX7Tmww8qAjPIQi3Qq2zy7LRBB6Az1X12xfqiCpWXbljOGq5PfTBGVE5vFS6h6FhAgMBAAEC',
  'ggEAA9W3q0sPQDTMv/z77zvYLHq1H6yMzK5uafi7HyH7pcn07xrPQJMr9ldafF+rFcOGfD7gxsN2j2DSVyRa3oKeYI2NvrfDESTC',
  'EPipAmkaoPaXnacL38sLx/dIXq7e612MVXXjaZrj1I7V2qz93FLhE9R8Jjr6QK1ea6AK91PAwE2bicaq/z+J9dyTsqz1qm/9ilOo',
  'd8k4pBGH7KOLhHDPXGVThsDdMlQO2XJ97OgrKGFRbeharCISrPFn2N83YPAheHNtWGYo4wDpUl2ng32/UnlgXh5BjQInNCu5/HD7',
  'Urx1ldtAR6TDSfbWoWdETtadqZjsoIGOmOLKdwZDu2x6EQKBgQDO9pZU7QjwAZVNdSWc4GIcRXp0gwD1UMhTC6VAD5hRWrVKpCnl',
  'q8+1cQG4/oYu5czHJ5CKy1hIp3RA92J0XfFBS+KnypcmxT2mmEmhv7IVsItN3iLmzfUVulgU7Pi+o4aZzyDI7pwC1H7fOucHuNGs',
  'vCcc3EXD8l4N03Gdk30caQKBgQC1XNkWN2NKS9lpPuyj+mj2SpDGdIDmqVVAWNy4SCsuBoZXwsoUHASEg4PiToZhAdEZClrvrAHA',
  'X8HUgrDI2wvHNDqTtVSK8skGJnDQnQt6pcWQlOU7+3TsvDSS1hrS6mrCwoNRjemnrcfqCqMIY3xeERsz1jJCo3x4lWpG/JgeOQKB',
  'gGC6cwyCNFkoBEXNaKTnYjNgbZki2UHOXbIikTtdjo0HXg/ipgpHwK5GgM2bd89Xa9vwq+eSnlJmoTjz5joI5gbklqxhTT+7k9LW',
  '/iLw2ySz/IeKOLmyrMdY7m3pS2CeQPyGCAahLp1L/3gJqYy8XpLi5UzhzmGEV10S49kH48NxAoGADI+YrXQ6mTu1nBdylkzSljRF',
  '4KjTAKa7s9AzwUOmUfK7vTpNeqUSHwdoy/S6U9+nVr+j2rOkD2nSZ+CBU/fv0eUpJW/KojD8gUOKTriBwgXXMBNP6R6aU4cZcQ4J',
  'H5CCwmhsZeqZQzbDAM+pyPvy8iTnKGjuZDUkesmGadI2yukCgYAa5U084OEpJijVvDtTdRwQqKUGTSR4igWN0kIuhOPjFhvxeRcH',
  'WXJ3tuCBIP6RLZ+wsrCB5L4TY+cvWEqhiHWcyhU9AQUb0kQYd5cvMjICtcwJeuq+uSGjzZdJYSb6vaeewXQSduXYyE3Tz27Of4Ce',
  'xD8Nbm6sq24jSyGAVbRAhA==',
];
const ED25519 = ['MC4CAQAwBQYDK2VwBCIEIH1OKTBgQdjvWv8hkFPvmQfNaXZ9W0fWVYzVg/fAL9Y1'];

/** The default keys of every domain in every world. */
export const testPairs: DkimPairs = { rsa: keyOf(RSA), ed25519: null };

/** The keys of a domain with the second signature enabled. */
export const bothPairs: DkimPairs = { ...testPairs, ed25519: keyOf(ED25519) };

function keyOf(lines: readonly string[]) {
  return createPrivateKey({ key: Buffer.from(lines.join(''), 'base64'), format: 'der', type: 'pkcs8' });
}
