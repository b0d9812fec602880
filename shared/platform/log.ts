import { pino, destination } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { Config } from './config.ts';
import { printable } from './printable.ts';

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
 * Opens where a process writes its log: stdout, as JSON lines. In a terminal the lines are formatted for people, except
 * in production. The formatter is loaded only then.
 */
export async function openLogStream({ production }: Pick<Config, 'production'>): Promise<DestinationStream> {
  if (production || !process.stdout.isTTY) return jsonLines();
  const { default: pretty } = await import('pino-pretty');
  const formatter = pretty({ sync: true, ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => void formatter.write(withoutControls(line)) };
}

/**
 * Writes out the control characters in a line of JSON, which the formatter would print as they are: a message of
 * another server or a file's name could hold commands for the terminal. Line breaks and tabs stay.
 */
function withoutControls(line: string): string {
  const escapes = /\\\\|\\u[0-9a-f]{4}|\\[bf]/g;
  return printable(line).replace(escapes, (escape) => (escape === '\\\\' ? escape : `\\${escape}`));
}

function jsonLines(): DestinationStream {
  return destination({ sync: true });
}

/**
 * The log of one process, as JSON lines on stdout. Fields that can hold credentials are cut, wherever code logs them.
 *
 * @param name which process speaks: "api", "worker".
 * @param stream takes the lines, that of {@link openLogStream} for one.
 */
export function createLogger(config: Pick<Config, 'logLevel'>, name: string, stream = jsonLines()): Logger {
  return pino(
    {
      name,
      level: config.logLevel,
      base: { name, pid: process.pid },
      // The last one is what ioredis says of a command that failed; that of a log-in holds the password.
      redact: [...secretFields.flatMap(anywhere), 'err.command.args'],
    },
    stream,
  );
}
