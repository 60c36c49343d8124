import { useEffect, useRef, useState } from 'react';
import { nowMs } from './clock.ts';

const MIN_MS = 5000;

/** The text for a live region: under steady news it changes at most every five seconds, as a screen reader needs. */
export function useAnnouncement(text: string): string {
  const [announcement, setAnnouncement] = useState(text);
  const last_ms = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        last_ms.current = nowMs();
        setAnnouncement(text);
      },
      Math.max(0, last_ms.current + MIN_MS - nowMs()),
    );
    return () => clearTimeout(timer);
  }, [text]);
  return announcement;
}
