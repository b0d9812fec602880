import { z } from 'zod';
import { parseUrl } from './parse-url.ts';
import { nearestName } from './nearest-name.ts';

/** The forms that settings have in the environment, where all are texts. What a fault says follows the setting's name. */

/** A whole number between two bounds. */
export const number = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number between ${min} and ${max}`);

/** The same for a setting that may be left out. */
export const integer = (fallback: number, min: number, max: number) => number(min, max).default(fallback);

/** An address with one of these protocols, each with its colon. */
export const url = (protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => protocols.includes(parseUrl(text)?.protocol ?? ''),
      `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );

/** The address of a server, which may hold a password: what is wrong with it is said without any part of it. */
export const serverAddress = (protocols: string[], faultOf: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const begins = protocols.map((protocol) => `${protocol}//`);
    const fault = begins.some((begin) => text.toLowerCase().startsWith(begin))
      ? faultOf(text)
      : `must be an address that begins with ${begins.join(' or ')}`;
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });

/** The address of a service, serialized, to put paths behind: it ends without a slash. */
export const baseUrl = url(['http:', 'https:'])
  .refine((text) => {
    const url = parseUrl(text);
    if (url === null) return true;
    const { username, password, search, hash } = url;
    return [username, password, search, hash].every((part) => part === '');
  }, 'must be an address without a user name, a password, a query (?) and a fragment (#)')
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

/** One of these words, the fallback where the setting is left out. */
export const choice = <Value extends string>(values: Value[], fallback: NoInfer<Value>) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(fallback);

/** Yes or no. */
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** Texts between commas, with room for spaces; none where the setting is left out. */
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ''));

const hostAndPort = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+):\d{1,5}$/i;

/** Hosts named as `host:port,host:port`, lower-cased. */
export const hostList = list
  .transform((parts) => parts.map((part) => part.toLowerCase()))
  .refine(
    (parts) => parts.every((part) => hostAndPort.test(part)),
    'must be a comma-separated list of host:port',
  );

/** Origins as a browser sends them: `https://app.example,https://admin.example`. */
export const originList = list.refine(
  (parts) => parts.every((part) => parseUrl(part)?.origin === part),
  'must be a comma-separated list of origins, such as https://app.example',
);

const leastSecretBytes = 32;

/** What nobody is to guess. */
export const secret = z
  .string()
  .refine(
    (text) => Buffer.byteLength(text) >= leastSecretBytes,
    `must be at least ${leastSecretBytes} bytes`,
  );

/** A secret that embed tokens are signed with; `kid` names it in a token's header. */
export interface SigningSecret {
  kid: string;
  secret: string;
}

/** `kid:secret,kid:secret`; the word "none" for an installation that signs and accepts no tokens. */
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
    (ring) => ring.every((one) => Buffer.byteLength(one.secret) >= leastSecretBytes),
    `must have secrets of at least ${leastSecretBytes} bytes (make one with: openssl rand -hex 32)`,
  )
  .refine((ring) => new Set(ring.map(({ kid }) => kid)).size === ring.length, 'must name each kid once');

/** Names so short are near too many others. */
const leastLength = 8;
const maxEdits = 3;
const ownPrefix = 'LECTERN_';

/**
 * Returns a sentence for each variable that looks like a setting and is none: one that is nearly spelt like a setting,
 * or begins with LECTERN_. Values are not looked at.
 *
 * @param variables the names in an environment.
 * @param settings the names that there are.
 */
export function warnOfUnknownSettings(variables: readonly string[], settings: readonly string[]): string[] {
  const known = new Set(settings);
  const candidates = settings.filter((setting) => setting.length >= leastLength);
  return variables
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const nearest = nearestName(name, candidates, () => maxEdits);
      if (nearest !== null)
        return [`${name} is not a Lectern setting and is ignored. Did you mean ${nearest}?`];
      return name.startsWith(ownPrefix) ? [`${name} is not a Lectern setting and is ignored.`] : [];
    });
}
