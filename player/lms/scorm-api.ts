/** The versions of SCORM that packages are made for. */
export type ScormVersion = '1.2' | '2004';

/** The functions of a platform's API: LMSInitialize in SCORM 1.2, Initialize in SCORM 2004, and so on. */
type RawApi = Record<string, ((...values: string[]) => unknown) | undefined>;

const names = {
  '1.2': {
    object: 'API',
    ...{ initialize: 'LMSInitialize', terminate: 'LMSFinish', commit: 'LMSCommit' },
    ...{ get: 'LMSGetValue', set: 'LMSSetValue', lastError: 'LMSGetLastError' },
  },
  '2004': {
    object: 'API_1484_11',
    ...{ initialize: 'Initialize', terminate: 'Terminate', commit: 'Commit' },
    ...{ get: 'GetValue', set: 'SetValue', lastError: 'GetLastError' },
  },
} as const;

/** More nested frames than this count as a loop. */
const maxParents = 500;

/** A connection to the platform. No function throws, because a platform's API may. */
export interface ScormApi {
  initialize(): boolean;
  /** Returns '' where the platform has no value. */
  get(element: string): string;
  /** Sets a value unless the platform has it already. Returns false if the platform rejects it. */
  set(element: string, value: string): boolean;
  commit(): boolean;
  terminate(): boolean;
}

/** Connects to the platform's API; null where no window has one. */
export function connectScorm(version: ScormVersion, from: Window = window): ScormApi | null {
  const { object, ...functions } = names[version];
  const found = findApi(from, object);
  if (found === null) return null;
  const api = found;
  const known = new Map<string, string>();

  function call(name: keyof typeof functions, ...values: string[]): string {
    try {
      return textOf(api[functions[name]]?.(...values));
    } catch {
      return '';
    }
  }

  const succeeds = (result: string) => ['true', '1'].includes(result.trim().toLowerCase());
  const hasError = () => !['0', ''].includes(call('lastError').trim());
  return {
    initialize: () => succeeds(call('initialize', '')) && !hasError(),
    get(element) {
      const value = call('get', element);
      return hasError() ? '' : value;
    },
    set(element, value) {
      if (known.get(element) === value) return true;
      const isSet = succeeds(call('set', element, value));
      if (isSet) known.set(element, value);
      return isSet;
    },
    commit: () => succeeds(call('commit', '')),
    terminate: () => succeeds(call('terminate', '')),
  };
}

/** Returns a platform's value as text. Platforms also return numbers and objects of other frames, such as `String`. */
function textOf(value: unknown): string {
  const primitive = typeof value === 'object' && value !== null ? value.valueOf() : value;
  return ['string', 'number', 'boolean'].includes(typeof primitive) ? String(primitive) : '';
}

/**
 * Looks for the API in this window and its parents, then in the windows that opened this one and the top one, and
 * their parents. Some platforms copy the API onto the window of the package; another one keeps it in a document.
 */
function findApi(from: Window, object: string): RawApi | null {
  const openers = [() => from.opener as unknown, () => from.top?.opener as unknown];
  const starts: (() => unknown)[] = [
    () => from,
    ...openers,
    ...openers.map((opener) => () => (opener() as Window | null)?.document),
  ];
  for (const start of starts) {
    const found = inParents(attempt(start), object);
    if (found !== null) return found;
  }
  return null;
}

function inParents(start: unknown, object: string): RawApi | null {
  let place = start as (Window & Record<string, unknown>) | null | undefined;
  for (let parents = 0; place && parents < maxParents; parents += 1) {
    const here = place;
    const api = attempt(() => here[object]);
    if (typeof api === 'object' && api !== null) return api as RawApi;
    const parent = attempt(() => here.parent) as typeof place;
    if (parent === here) break;
    place = parent;
  }
  return null;
}

/** Reads a property of a window, which throws for one of another origin. */
function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
