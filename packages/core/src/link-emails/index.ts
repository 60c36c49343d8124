export { type LinkEmail, plainName, type SentAs, sendLink, usableSender } from './send-link.ts';
