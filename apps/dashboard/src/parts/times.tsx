import { useEffect } from 'react';
import { createStore, useStore } from '../api/store.ts';
import { useNow } from './clock.ts';

const STORAGE_KEY = 'postrider.utc';

/** Whether exact times are shown in UTC or in the browser's time zone. */
export const inUtc = createStore(readKept());

function readKept(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) === '1';
  } catch {
    return false;
  }
}

export function showUtc(utc: boolean): void {
  inUtc.set(utc);
  try {
    localStorage.setItem(STORAGE_KEY, utc ? '1' : '0');
  } catch {
    // If storage is blocked, the choice lasts until the tab is closed.
  }
}

/** Formats a time such as 2026-11-23 08:30:01 UTC. */
export function exactTime(iso: string, utc: boolean): string {
  const date = new Date(iso);
  if (utc) return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '−' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zone}`;
}

const steps: readonly (readonly [number, number, string])[] = [
  [60, 1, 's'],
  [3600, 60, ' min'],
  [86_400, 3600, ' h'],
  [86_400 * 60, 86_400, ' d'],
  [86_400 * 730, 86_400 * 30, ' months'],
];

/** Formats a duration in its largest unit, such as 12 s or 3 d. */
export function span(seconds: number): string {
  const length = Math.abs(seconds);
  for (const [below, unit, name] of steps)
    if (length < below) return `${Math.floor(length / unit)}${name === 's' ? ' s' : name}`;
  return `${Math.floor(length / (86_400 * 365))} years`;
}

/** Formats a duration in milliseconds, such as 3.2 ms or 1.4 s. */
export function spanMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms / 1000);
}

/**
 * Shows a relative time. The exact time is available by pointer and keyboard. What has happened is never shown in the
 * future, and what is upcoming never in the past: by then it is due, or the page has not heard of it yet.
 */
export function RelativeTime({
  at,
  upcoming = false,
  lasting = false,
}: {
  readonly at: string;
  readonly upcoming?: boolean;
  /** Still true: “for 3 min” instead of “3 min ago”. */
  readonly lasting?: boolean;
}) {
  const now = useNow();
  const utc = useStore(inUtc);
  const seconds = Math.max(0, Math.round(((upcoming ? -1 : 1) * (now - Date.parse(at))) / 1000));
  const length = span(seconds);
  const past = lasting ? `for ${length}` : seconds < 2 ? 'now' : `${length} ago`;
  const phrase = upcoming ? (seconds < 2 ? 'now' : `in ${length}`) : past;
  return (
    <time dateTime={at} title={exactTime(at, utc)}>
      {phrase}
    </time>
  );
}

export function ExactTime({ at }: { readonly at: string }) {
  const utc = useStore(inUtc);
  return <time dateTime={at}>{exactTime(at, utc)}</time>;
}

/** Follows changes to the setting in other tabs. */
export function useSharedUtc(): void {
  useEffect(() => {
    const follow = (event: StorageEvent) => {
      if (event.key === STORAGE_KEY) inUtc.set(event.newValue === '1');
    };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, []);
}
