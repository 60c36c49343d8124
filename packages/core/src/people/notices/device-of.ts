import { cleanRemoteText } from '@postrider/net';

const MAX_USER_AGENT = 300;

// The first match counts: Edge and Chrome also name Safari, and Android names Linux.
const BROWSERS = [
  ['Edge', /\bEdg/],
  ['Firefox', /\bFirefox\//],
  ['Opera', /\bOPR\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const;
const SYSTEMS = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** Returns a browser and its system in words, as the browser names them; null if neither is a common one. */
export function deviceOf(user_agent: string): string | null {
  const nameIn = (names: readonly (readonly [string, RegExp])[]) =>
    names.find(([, pattern]) => pattern.test(user_agent))?.[0];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return system ?? null;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Returns what a browser says it is without control characters, and not longer than it should be. */
export function readableUserAgent(user_agent: string): string {
  return cleanRemoteText(user_agent.slice(0, MAX_USER_AGENT));
}
