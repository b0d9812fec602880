import { z } from 'zod';
import { headerOrigin, isHttpUrl, parseUrl } from './parse-url.ts';
import { nearestName } from './unknown-names.ts';

/* Schemas of settings, which are texts in the environment. Error messages begin with the setting's name. */

/** A whole number between two bounds. */
export const number = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number between ${min} and ${max}`);

/** A whole number with a default. */
export const integer = (fallback: number, min: number, max: number) => number(min, max).default(fallback);

/** A URL with one of these protocols, such as "http:". */
export const url = (protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => protocols.includes(parseUrl(text)?.protocol ?? ''),
      `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );

/** The URL of a server. It may contain a password, so errors contain no part of it. */
export const serverAddress = (protocols: string[], faultOf: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const begins = protocols.map((protocol) => `${protocol}//`);
    const fault = begins.some((begin) => text.toLowerCase().startsWith(begin))
      ? faultOf(text)
      : `must be a URL that begins with ${begins.join(' or ')}`;
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });

/** The base URL of a service, serialized, without a slash at its end. */
export const baseUrl = url(['http:', 'https:'])
  .refine((text) => {
    const url = parseUrl(text);
    if (url === null) return true;
    const { username, password, search, hash } = url;
    return [username, password, search, hash].every((part) => part === '');
  }, 'must be a URL without a user name, a password, a query (?) and a fragment (#)')
  .refine((text) => !isHttpUrl(text) || headerOrigin(text) !== null, 'must have the name of a host')
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

/** One of these words. */
export const oneOf = <Value extends string>(values: Value[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

/** One of these words, with a default. */
export const choice = <Value extends string>(values: Value[], fallback: NoInfer<Value>) =>
  oneOf(values).default(fallback);

export const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((text) => text === 'true' || text === '1');

/** A comma-separated list, with optional spaces; empty by default. */
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ''));

const hostAndPort = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+):\d{1,5}$/i;

/** Hosts as `host:port,host:port`, in lower case. */
export const hostList = list
  .transform((parts) => parts.map((part) => part.toLowerCase()))
  .refine(
    (parts) => parts.every((part) => hostAndPort.test(part)),
    'must be a comma-separated list of host:port',
  );

/** Origins as a browser sends them: `https://app.example,https://admin.example`. */
export const originList = list.refine(
  (parts) => parts.every((part) => headerOrigin(part) === part),
  'must be a comma-separated list of origins, such as https://app.example',
);

const minSecretBytes = 32;

export const secret = z
  .string()
  .refine((text) => Buffer.byteLength(text) >= minSecretBytes, `must be at least ${minSecretBytes} bytes`);

/** A secret that signs embed tokens; `kid` identifies it in a token's header. */
export interface SigningSecret {
  kid: string;
  secret: string;
}

/** `kid:secret,kid:secret`, or "none" for an installation without tokens. */
export const signingSecrets = z
  .string()
  .transform((text) =>
    text === 'none'
      ? []
      : text.split(',').map((part): SigningSecret => {
          const [, kid = '', secretText = ''] = /^([^:]*):(.*)$/s.exec(part.trim()) ?? [];
          return { kid, secret: secretText };
        }),
  )
  .refine((ring) => ring.every(({ kid }) => /^[\w.-]{1,64}$/.test(kid)), {
    message: 'must be a comma-separated list of kid:secret; a kid has letters, digits, ".", "_" and "-"',
    abort: true,
  })
  .refine(
    (ring) => ring.every((one) => Buffer.byteLength(one.secret) >= minSecretBytes),
    `must have secrets of at least ${minSecretBytes} bytes (make one with: openssl rand -hex 32)`,
  )
  .refine((ring) => new Set(ring.map(({ kid }) => kid)).size === ring.length, 'must name each kid once');

/** Shorter names resemble too many others. */
const minLength = 8;
const maxEdits = 3;
const ownPrefix = 'LECTERN_';

/**
 * Returns a warning for each variable that resembles a setting but is none: it begins with LECTERN_ or is a likely
 * misspelling.
 *
 * @param variables the names in an environment.
 * @param settings the names of all settings.
 */
export function warnOfUnknownSettings(variables: readonly string[], settings: readonly string[]): string[] {
  const known = new Set(settings);
  const candidates = settings.filter((setting) => setting.length >= minLength);
  return variables
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const nearest = nearestName(name, candidates, () => maxEdits);
      if (nearest !== null)
        return [`${name} is not a Lectern setting and is ignored. Did you mean ${nearest}?`];
      return name.startsWith(ownPrefix) ? [`${name} is not a Lectern setting and is ignored.`] : [];
    });
}
