import { Postrider } from '@postrider/sdk';
import { Accounts } from './accounts.ts';
import { createApp } from './app.ts';

const port = Number(process.env.PORT ?? 4000);
const public_url = process.env.PUBLIC_URL ?? `http://localhost:${port}`;

const accounts = new Accounts();
await accounts.add('ada@example.com', 'the first program');
const { server, settle } = createApp(accounts, new Postrider(), public_url);
server.listen(port, () => console.log(`Open ${public_url}/forgot`));

process.once('SIGTERM', () => server.close(settle));
