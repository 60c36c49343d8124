import { useEffect, useRef, useState } from 'react';
import { nowMs } from '../api/clock.ts';

const MIN_MS = 5000;

/**
 * Returns the text for a live region. Under frequent updates it changes at most every five seconds, so that screen
 * readers can keep up.
 */
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
