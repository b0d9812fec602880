import { pino, destination } from 'pino';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/** Names under which a secret could get into a log, by way of headers, settings or an error of a library. */
const secretFields = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'signature',
  'secret',
  'secretKey',
  'password',
  'keyPepper',
  'signingSecrets',
  'assetSecret',
  'cookieSecret',
  // The bytes of a request that is no HTTP.
  'rawPacket',
];

/** On its own and one or two levels down, as in `{ headers: { cookie } }` and `{ request: { headers: { cookie } } }`. */
const anywhere = (field: string) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`];

/**
 * The log of one process, as JSON lines on stdout. Fields that can hold credentials are cut, wherever code logs them.
 *
 * @param name which process speaks: "api", "worker".
 */
export function createLogger(config: Pick<Config, 'logLevel'>, name: string): Logger {
  return pino(
    {
      name,
      level: config.logLevel,
      base: { name, pid: process.pid },
      // The last one is what ioredis says of a command that failed; that of a log-in holds the password.
      redact: [...secretFields.flatMap(anywhere), 'err.command.args'],
    },
    destination({ sync: true }),
  );
}
