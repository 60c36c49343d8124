import { problemOf, watchQueues } from './watcher.ts';

const { POSTRIDER_URL: url = 'http://localhost:3000', POSTRIDER_API_KEY: key } = process.env;
if (!key) throw new Error('Set POSTRIDER_API_KEY to a key with the scope operator.');

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

const problems = new Map<string, string>();
console.log('Watching the queues. Press Ctrl-C to stop.');
for await (const queues of watchQueues({ url, key }, stop.signal)) {
  for (const queue of queues) {
    const problem = problemOf(queue);
    // Each problem is reported when it begins and when it ends. Send it to your chat here.
    if (problem !== null && !problems.has(queue.name)) console.log(`${queue.name}: ${problem}`);
    if (problem === null && problems.has(queue.name)) console.log(`${queue.name}: fine again`);
    if (problem === null) problems.delete(queue.name);
    else problems.set(queue.name, problem);
  }
}
