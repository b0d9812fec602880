import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../../shared/platform/paths.ts';

/** Settings that the image or the Compose file itself sets. `PORT` is the host's port there. */
const decided = [
  'NODE_ENV',
  'HOST',
  'PORT',
  'LECTERN_DATA_DIR',
  'LECTERN_STORE_DIR',
  'XDG_CACHE_HOME',
  'MONGODB_URI',
  'REDIS_URL',
];

/**
 * The parts of the Compose specification that the file uses; strict, so that a misspelt key is an
 * error.
 */
const service = z.strictObject({
  image: z.string(),
  build: z.literal('.').optional(),
  init: z.boolean().optional(),
  restart: z.literal('unless-stopped'),
  logging: z.strictObject({
    driver: z.literal('json-file'),
    options: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }),
  }),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  user: z.string().optional(),
  // Every container is confined.
  read_only: z.literal(true),
  tmpfs: z.array(z.string()),
  cap_drop: z.tuple([z.literal('ALL')]),
  cap_add: z.tuple([z.literal('NET_BIND_SERVICE')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  volumes: z.array(z.string()),
  ports: z.array(z.union([z.string(), z.number()])).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  deploy: z.strictObject({ replicas: z.int() }).optional(),
  healthcheck: z
    .strictObject({
      disable: z.literal(true).optional(),
      test: z.array(z.string()).optional(),
      interval: z.string().optional(),
      timeout: z.string().optional(),
      start_period: z.string().optional(),
      retries: z.int().optional(),
    })
    .optional(),
});
const composeFile = z.strictObject({
  name: z.string(),
  'x-logging': z.unknown(),
  'x-confined': z.unknown(),
  'x-lectern': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

const read = (name: string) => readFile(join(packageRoot, name), 'utf8');

async function readCompose() {
  return composeFile.parse(parse(await read('docker-compose.yml'), { merge: true }));
}

test('Compose passes every setting of .env.example to the API and the workers under its own name', async () => {
  const { services } = await readCompose();
  const listed = [...(await read('.env.example')).matchAll(/^#([A-Z_\d]+)=/gm)].map(([, name = '']) => name);
  expect(listed.length).toBeGreaterThan(40);
  for (const environment of [services.api?.environment, services.worker?.environment]) {
    const passed = Object.entries(environment ?? {}).filter(([name]) => !decided.includes(name));
    expect(passed.map(([name]) => name).toSorted()).toEqual(
      listed.filter((name) => !decided.includes(name)).toSorted(),
    );
    for (const [name, value] of passed) expect(value).toMatch(new RegExp(`^\\$\\{${name}:[-?]`));
  }
});

test('the backup of docs/operate/backup.md names services of Compose, and the store of the image', async () => {
  const page = await read('docs/operate/backup.md');
  const commands = [
    ...page.matchAll(
      /^docker compose (?:exec|run|stop)((?: -\S+)*)((?: (?:api|worker|mongo|redis)(?= |$))+) ?(.*)$/gm,
    ),
  ];
  expect(commands.map(([, , names = '', command = '']) => [names.trim(), command.split(' ')[0]])).toEqual([
    ['mongo', 'sh'],
    ['api', 'tar'],
    ['api worker', ''],
    ['mongo', 'sh'],
    ['api', 'tar'],
    ['redis', 'redis-cli'],
    ['api', 'lectern'],
  ]);
  expect(Object.keys((await readCompose()).services)).toEqual(
    expect.arrayContaining(['api', 'worker', 'mongo', 'redis']),
  );
  const storeDir = /LECTERN_STORE_DIR=(\S+)/.exec(await read('Dockerfile'))?.[1] ?? '';
  expect(page.match(/ -C \/\S+/g)).toEqual([` -C ${storeDir}`, ` -C ${storeDir}`]);
});

test('each volume and service named there is declared, and HTTPS has its own profile', async () => {
  const { services, volumes } = await readCompose();
  for (const { volumes: mounted, depends_on: needed = {} } of Object.values(services)) {
    for (const name of Object.keys(needed)) expect(services).toHaveProperty(name);
    const named = mounted
      .map((mount) => mount.split(':', 1)[0] ?? '')
      .filter((name) => !name.startsWith('.'));
    for (const name of named) expect(volumes).toHaveProperty(name);
  }
  expect(Object.entries(services).filter(([, { profiles }]) => profiles !== undefined)).toEqual([
    ['caddy', expect.objectContaining({ profiles: ['https'] })],
  ]);
});

test('MongoDB and Redis get a password that .env must have, and the API and the workers use it', async () => {
  const { services } = await readCompose();
  const { mongo, redis, api, worker } = services;
  expect(mongo?.environment).toMatchObject({
    MONGO_INITDB_ROOT_USERNAME: 'lectern',
    MONGO_INITDB_ROOT_PASSWORD: '${MONGO_PASSWORD:-}',
  });
  expect(redis?.environment).toEqual({ REDISCLI_AUTH: '${REDIS_PASSWORD:-}' });
  const interpolated = (text = '') =>
    text.replaceAll(/\$\{(\w+):\?.*?\}/g, (_all, name: string) => `the-${name}`);
  for (const environment of [api?.environment, worker?.environment]) {
    expect(interpolated(environment?.['MONGODB_URI'])).toBe(
      'mongodb://lectern:the-MONGO_PASSWORD@mongo:27017/lectern?authSource=admin&replicaSet=lectern',
    );
    expect(interpolated(environment?.['REDIS_URL'])).toBe('redis://:the-REDIS_PASSWORD@redis:6379');
  }
});
