import { Command } from 'commander';
import { loadConfig } from '../../shared/config.ts';
import { findServers } from '../../shared/servers.ts';
import { note } from '../output.ts';
import { startProcesses, untilStopped } from '../processes.ts';

/** `lectern start`: everything on one machine, in one terminal. */
export function startCommand(): Command {
  return new Command('start')
    .description('run the API and a worker, and the servers they need where none are configured')
    .action(async () => {
      const config = loadConfig();
      const stopped = untilStopped(config);
      const servers = await findServers(config, note);
      try {
        const processes = await startProcesses(config, servers, { workers: 1 });
        process.stdout.write(`Lectern is ready at ${processes.address}\n`);
        try {
          await Promise.race([stopped, processes.failed]);
        } finally {
          await processes.stop();
        }
      } finally {
        await servers.release();
      }
    });
}
