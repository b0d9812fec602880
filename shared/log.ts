import { pino, destination } from 'pino';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

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
      redact: [
        'authorization',
        'cookie',
        'token',
        'secret',
        'password',
        '*.authorization',
        '*.cookie',
        '*.token',
        // What ioredis says of a command that failed; that of a log-in holds the password.
        'err.command.args',
      ],
    },
    destination({ sync: true }),
  );
}
