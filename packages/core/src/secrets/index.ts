export { countSecrets, reencryptSecrets, requireSecrets, startReencryption } from './reencrypt.ts';
