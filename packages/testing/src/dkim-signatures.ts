import { dkimVerify } from 'mailauth';

/** Verifies the signatures of a message with these records, by name, as `result algorithm domain`. */
export async function dkimSignatures(raw: Buffer, records: ReadonlyMap<string, string>): Promise<string[]> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => {
      const record = records.get(name);
      if (record === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return [[record]];
    },
  });
  return results.map(({ status, algo, signingDomain }) => `${status.result} ${algo} ${signingDomain}`);
}
