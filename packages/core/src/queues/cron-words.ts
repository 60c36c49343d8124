const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const NUMBER = /^\d{1,2}$/;
const STEP = /^\*\/(\d{1,2})$/;

/** Describes a cron expression in words; returns it unchanged if there is no simple description. */
export function cronInWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = cron.trim().split(/\s+/);
  const asIs = `at ${cron}`;
  if (rest.length > 0 || month !== '*' || (day !== '*' && weekday !== '*')) return asIs;
  const days = daysInWords(day, weekday);
  if (days === null) return asIs;
  const [, step] = STEP.exec(minute) ?? [];
  if (hour === '*' && days === '') {
    if (minute === '*') return 'every minute';
    if (step) return `every ${Number(step)} minutes`;
    if (NUMBER.test(minute)) return `every hour at minute ${Number(minute)}`;
  }
  if (NUMBER.test(minute) && NUMBER.test(hour)) {
    return `${days || 'every day'} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  }
  const [, hours] = STEP.exec(hour) ?? [];
  if (NUMBER.test(minute) && hours && days === '') return `every ${Number(hours)} hours at minute ${Number(minute)}`;
  return asIs;
}

/**
 * Describes the days of a cron expression. Returns an empty string for every day, and null if there is no simple
 * description.
 */
function daysInWords(day: string, weekday: string): string | null {
  if (day === '*' && weekday === '*') return '';
  if (day === '*' && /^[0-7]$/.test(weekday)) return `every ${DAYS[Number(weekday) % 7]}`;
  if (weekday === '*' && NUMBER.test(day)) return `on day ${Number(day)} of every month`;
  return null;
}
