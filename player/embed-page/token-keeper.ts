import type { JsonObject } from './session-record.ts';

/** Holds the learner's token, and watches its expiry. */
export interface TokenKeeper {
  token(this: void): string;
  /** Replaces the token with another one of the same learner. */
  replace(this: void, token: string): void;
  /** Requests another token again, because the server rejected this one. */
  rejected(this: void): void;
}

const minuteMs = 60_000;
/** How long before its expiry another token is requested; at most a tenth of its lifetime. */
const noticeMs = 5 * minuteMs;
/** Browsers fire longer timers at once. */
const maxTimerMs = 24 * 60 * minuteMs;

/** Stores a lesson's token in this tab. @param storage null if the browser blocks it */
export function tokenStore(storage: Storage | null, lessonId: string) {
  const key = `lectern:token:${lessonId}`;
  return {
    read: () => storage?.getItem(key) ?? '',
    write(token: string): void {
      try {
        storage?.setItem(key, token);
      } catch {
        // The storage is full: after a reload, the page needs a new token.
      }
    },
  };
}

/**
 * Stores a token and watches its expiry.
 *
 * @param now returns the server's time
 * @param onExpiring called before the token expires, when it expires, and when it is rejected
 */
export function keepToken(
  first: { token: string; expiresAt: number },
  store: ReturnType<typeof tokenStore>,
  now: () => number,
  onExpiring: (expiresAt: number) => void,
): TokenKeeper {
  let { token, expiresAt: expiry } = first;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function at(time: number, act: () => void): void {
    const left = time - now();
    timer = setTimeout(
      () => (left > maxTimerMs ? at(time, act) : act()),
      Math.max(0, Math.min(left, maxTimerMs)),
    );
  }

  function watch(expiresAt: number): void {
    clearTimeout(timer);
    expiry = expiresAt;
    const early = Math.min(noticeMs, (expiresAt - now()) / 10);
    at(expiresAt - Math.max(0, early), () => {
      onExpiring(expiresAt);
      if (expiresAt > now()) at(expiresAt, () => onExpiring(expiresAt));
    });
  }

  store.write(token);
  watch(first.expiresAt);
  return {
    token: () => token,
    replace(next) {
      token = next;
      store.write(token);
      const { exp } = claimsOf(token);
      if (typeof exp === 'number') watch(exp * 1000);
    },
    rejected: () => onExpiring(expiry),
  };
}

/** Returns a token's claims, unverified; none if it is malformed. */
export function claimsOf(token: string): JsonObject {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(atob(payload)) as JsonObject;
  } catch {
    return {};
  }
}
