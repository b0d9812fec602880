import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { formatLocale } from '../shell/text.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Changes every minute, so that relative times stay true. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, minute);

const units: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', day],
  ['hour', 60 * minute],
  ['minute', minute],
];

/**
 * A time in the reader's zone: relative within a week, then the date. The exact time is its tooltip.
 *
 * @param props.at in ISO 8601
 */
export function Time({ at }: { at: string }): JSX.Element {
  const date = new Date(at);
  return (
    <time dateTime={at} title={exactTime(date)}>
      {shortTime(date, now.value)}
    </time>
  );
}

function shortTime(date: Date, nowMs: number): string {
  const locale = formatLocale();
  const ms = date.getTime() - nowMs;
  if (Math.abs(ms) > 7 * day) return date.toLocaleDateString(locale, { dateStyle: 'medium' });
  const [unit, length] = units.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['second', 1_000];
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'long' });
  return unit === 'second' ? format.format(0, 'second') : format.format(Math.trunc(ms / length), unit);
}

/** Returns a date and time with the zone. */
export function exactTime(date: Date): string {
  return date.toLocaleString(formatLocale(), {
    ...{ weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' },
    ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  });
}
