import type { JsonObject } from './session-record.ts';

/** The learner's token: where it is kept in this tab, and when it ends. */
export interface TokenKeeper {
  token(this: void): string;
  /** Takes another token, of the same learner. */
  replace(this: void, token: string): void;
  /** The server does not accept it any more: says once more that another one is needed. */
  refused(this: void): void;
}

const minute = 60_000;
/** Milliseconds before its end that a token is said to be expiring; a tenth of its life where that is less. */
const notice = 5 * minute;
const longestTimer = 24 * 60 * minute;

/** @param storage null where the browser blocks it: the token then does not outlive the page */
export function tokenStore(storage: Storage | null, lessonId: string) {
  const key = `lectern:token:${lessonId}`;
  return {
    read: () => storage?.getItem(key) ?? '',
    write(token: string): void {
      try {
        storage?.setItem(key, token);
      } catch {
        // A full storage: a reload of the page has to get a new token.
      }
    },
  };
}

/**
 * @param expiresAt Unix milliseconds
 * @param now the server's clock
 * @param onExpiring called before the token ends, once more when it has, and when it is refused
 */
export function keepToken(
  first: { token: string; expiresAt: number },
  store: ReturnType<typeof tokenStore>,
  now: () => number,
  onExpiring: (expiresAt: number) => void,
): TokenKeeper {
  let { token, expiresAt: end } = first;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function at(time: number, act: () => void): void {
    const left = time - now();
    timer = setTimeout(
      () => (left > longestTimer ? at(time, act) : act()),
      Math.max(0, Math.min(left, longestTimer)),
    );
  }

  function watch(expiresAt: number): void {
    clearTimeout(timer);
    end = expiresAt;
    const early = Math.min(notice, (expiresAt - now()) / 10);
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
    refused: () => onExpiring(end),
  };
}

/** What a token says; the server alone can check it. Nothing for one that cannot be read. */
export function claimsOf(token: string): JsonObject {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(atob(payload)) as JsonObject;
  } catch {
    return {};
  }
}
