import { pino, destination } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { Config } from './config.ts';
import { release } from './paths.ts';

export type { Logger };

/** Names of fields that may contain secrets: headers, settings, errors of libraries. */
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
  // The bytes of a request that is not valid HTTP.
  'rawPacket',
];

/** Matches a field at three levels: `{ cookie }`, `{ headers: { cookie } }`, `{ request: { headers: { cookie } } }`. */
const anywhere = (field: string) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`];

/** Opens the log of a process: JSON lines on stdout. In a terminal, except in production, it formats them for people. */
export async function openLogStream({ production }: Pick<Config, 'production'>): Promise<DestinationStream> {
  if (production || !process.stdout.isTTY) return jsonLines();
  const { default: pretty } = await import('pino-pretty');
  const formatter = pretty({ sync: true, ignore: 'pid,release', translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => void formatter.write(withoutControls(line)) };
}

/**
 * Escapes control characters in a JSON line, except line breaks and tabs. The formatter would print them, and a message
 * of another server or a file name could contain terminal commands.
 */
function withoutControls(line: string): string {
  const escapes = /\\\\|\\u[0-9a-f]{4}|\\[bf]/g;
  return printable(line).replace(escapes, (escape) => (escape === '\\\\' ? escape : `\\${escape}`));
}

function jsonLines(): DestinationStream {
  return destination({ sync: true });
}

/**
 * Creates the logger of a process. It redacts fields that may contain credentials.
 *
 * @param name of the process: "api", "worker".
 * @param stream receives the lines, such as that of {@link openLogStream}.
 */
export function createLogger(config: Pick<Config, 'logLevel'>, name: string, stream = jsonLines()): Logger {
  return pino(
    {
      name,
      level: config.logLevel,
      base: { name, pid: process.pid, release },
      // ioredis adds the arguments of a failed command to its error; those of AUTH contain the password.
      redact: [...secretFields.flatMap(anywhere), 'err.command.args'],
    },
    stream,
  );
}

/**
 * Control characters, except line breaks and tabs, and characters that change the direction of text. In foreign titles,
 * names and URLs, they could send commands to the terminal or falsify its output.
 */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes such characters for output in a terminal: `\u001b`. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
