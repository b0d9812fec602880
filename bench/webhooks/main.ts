import { startProcesses } from '../../cli/installation/processes.ts';
import { prepareInstallation } from '../installation.ts';
import { measureDelays } from './delays.ts';
import { measureWrites } from './writes.ts';

/*
 * Measures what webhooks cost learners, and each other:
 *
 * - writes of learners, in an organization without webhooks (baseline), and in one with a webhook for all progress. With
 *   the folder of another checkout as the third argument, its API takes turns on the same database.
 * - how long a live receiver waits for its events beside 100 receivers that do not respond.
 */

const rounds = Number(process.argv[3] ?? 7);
const otherCheckout = process.argv[4];

const installation = await prepareInstallation();
const { config, servers, settings } = installation;
await measureWrites(installation, { rounds, otherCheckout });
const processes = await startProcesses(config, servers, { workers: 1, settings });
await measureDelays(installation);
await processes.stop();
await installation.remove();
