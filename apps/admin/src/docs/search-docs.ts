import { operation } from '@postrider/core';
import { z } from 'zod';
import { allPages, isDecision } from './library.ts';
import { search } from './search.ts';

export const MAX_QUESTION = 200;
const MAX_RESULTS = 6;

const resultSchema = z.object({ title: z.string(), heading: z.string(), path: z.string() });

/** Finds sections of the documentation, for anyone who is signed in. */
export const searchDocs = operation({
  name: 'docs.search',
  scope: null,
  summary: 'Find sections of the documentation',
  input: z.object({
    text: z.string().trim().min(1).max(MAX_QUESTION),
    limit: z.int().min(1).max(MAX_RESULTS).default(MAX_RESULTS),
  }),
  output: z.object({ object: z.literal('list'), data: z.array(resultSchema).readonly() }),
  async run(_, { text, limit }) {
    return { object: 'list' as const, data: await suggestions(text, limit) };
  },
});

/** Returns the best sections for a query, as links. */
export async function suggestions(text: string, limit: number): Promise<z.output<typeof resultSchema>[]> {
  const hits = await search(allPages(), text);
  return hits
    .filter(({ page }) => !isDecision(page))
    .slice(0, limit)
    .map(({ page, heading, anchor }) => ({
      title: page.title,
      heading,
      path: `/docs/${page.name}${anchor === '' ? '' : `#${anchor}`}`,
    }));
}
