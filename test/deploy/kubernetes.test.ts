import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../../shared/platform/config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';

const folder = join(packageRoot, 'deploy', 'kubernetes');

/** The module of kubernetes-types, generated from Kubernetes' OpenAPI document, for each kind. */
const typeOfKind: Record<string, string> = {
  'v1/ConfigMap': "import('kubernetes-types/core/v1.d.ts').ConfigMap",
  'v1/Service': "import('kubernetes-types/core/v1.d.ts').Service",
  'apps/v1/Deployment': "import('kubernetes-types/apps/v1.d.ts').Deployment",
  'policy/v1/PodDisruptionBudget': "import('kubernetes-types/policy/v1.d.ts').PodDisruptionBudget",
  'autoscaling/v2/HorizontalPodAutoscaler':
    "import('kubernetes-types/autoscaling/v2.d.ts').HorizontalPodAutoscaler",
};

/** As KEDA documents it; strict, so that a misspelt field is an error. */
const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata: z.strictObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ name: z.literal('lectern-worker') }),
    // At least one worker has to send grades, even without exports.
    minReplicaCount: z.int().min(1),
    maxReplicaCount: z.int(),
    pollingInterval: z.int(),
    advanced: z.strictObject({
      horizontalPodAutoscalerConfig: z.strictObject({ behavior: z.record(z.string(), z.unknown()) }),
    }),
    triggers: z
      .array(
        z.strictObject({
          type: z.literal('prometheus'),
          metadata: z.strictObject({
            serverAddress: z.url(),
            query: z.string(),
            threshold: z.string(),
            ignoreNullValues: z.enum(['true', 'false']),
          }),
        }),
      )
      .min(1),
  }),
});

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
type KubernetesObject = z.output<typeof objectSchema>;

async function readObjects(): Promise<KubernetesObject[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const documents = texts.flatMap((text) => parseAllDocuments(text, { strict: true }));
  for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  return documents.map((document) => objectSchema.parse(document.toJS()));
}

/** Returns TypeScript's errors in a source; object literals may have no unknown field. */
function faultsOf(source: string): string[] {
  const name = join(packageRoot, 'test', 'deploy', 'checked.ts');
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    moduleResolution: 100,
    module: 200,
  };
  const host = ts.createCompilerHost(options);
  const getSourceFile: ts.CompilerHost['getSourceFile'] = (file, ...rest) =>
    file === name
      ? ts.createSourceFile(name, source, ts.ScriptTarget.Latest)
      : host.getSourceFile(file, ...rest);
  const fileExists = (file: string) => file === name || host.fileExists(file);
  const program = ts.createProgram([name], options, { ...host, getSourceFile, fileExists });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const literal = (type: string, value: unknown) =>
  `const checked: ${type} = ${JSON.stringify(value, null, 1)};`;

const isKeda = ({ apiVersion }: KubernetesObject) => apiVersion.startsWith('keda.sh/');

test('the objects of deploy/kubernetes have no unknown, missing or mistyped field', async () => {
  const objects = (await readObjects()).filter((object) => !isKeda(object));
  expect(objects.length).toBeGreaterThanOrEqual(7);
  const sources = objects.map((object, index) => {
    const type = typeOfKind[`${object.apiVersion}/${object.kind}`];
    expect(type, `the type of ${object.apiVersion} ${object.kind}`).toBeDefined();
    return literal(String(type), object).replace('checked', `checked${index}`);
  });
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const misspelt = { ...deployment, spec: { ...(deployment?.['spec'] as object), replica: 2 } };
  const expected = '// @ts-expect-error -- it has an unknown field';
  const wrong = literal(String(typeOfKind['apps/v1/Deployment']), misspelt).replaceAll('\n', '');
  sources.push(`${expected}\n${wrong}`);
  expect(faultsOf(`${sources.join('\n')}\nexport {};`)).toEqual([]);
});

test('KEDA scales workers on an existing metric by their number of slots, and keeps at least one', async () => {
  const objects = await readObjects();
  const { spec } = scaledObject.parse(objects.find(isKeda));
  const [trigger] = spec.triggers;
  expect(trigger?.metadata.query).toContain('lectern_export_queue_jobs{state="waiting"}');
  expect(settingsOf(objects, 'lectern-worker')['WORKER_CONCURRENCY']).toBe(trigger?.metadata.threshold);
  const source = await readFile(join(packageRoot, 'shared', 'operations', 'queue-metrics.ts'), 'utf8');
  expect(source).toContain("name: 'lectern_export_queue_jobs'");
});

test('the settings are valid, and processes get more time than their graceful shutdown takes', async () => {
  const objects = await readObjects();
  const secret = 'a secret that is long enough for Lectern';
  const secrets = {
    MONGODB_URI: 'mongodb://mongo/lectern',
    REDIS_URL: 'redis://redis',
    LECTERN_KEY_PEPPER: secret,
    LECTERN_SIGNING_SECRETS: `main:${secret}`,
    LECTERN_ASSET_SECRET: secret,
    LECTERN_COOKIE_SECRET: secret,
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
  };
  for (const name of ['lectern-api', 'lectern-worker']) {
    const settings = { NODE_ENV: 'production', ...secrets, ...settingsOf(objects, name) };
    const config = parseConfig(settings);
    const { terminationGracePeriodSeconds, enableServiceLinks } = podOf(objects, name);
    // A service named lectern would give each pod LECTERN_PORT and similar variables.
    expect(enableServiceLinks).toBe(false);
    expect(terminationGracePeriodSeconds).toBeGreaterThan(config.shutdownSeconds + 5);
    expect(config.store.kind).toBe('s3');
  }
});

interface Pod {
  terminationGracePeriodSeconds: number;
  enableServiceLinks?: boolean;
  containers: { env: { name: string; value: string }[] }[];
}

function podOf(objects: KubernetesObject[], name: string): Pod {
  const found = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  if (found === undefined) throw new Error(`no deployment ${name}`);
  return (found['spec'] as { template: { spec: Pod } }).template.spec;
}

/** Returns the environment of a deployment, without secrets. */
function settingsOf(objects: KubernetesObject[], name: string): Record<string, string> {
  const shared = objects.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>;
  const own = podOf(objects, name).containers.flatMap(({ env }) => env.map((one) => [one.name, one.value]));
  return { ...shared, ...(Object.fromEntries(own) as Record<string, string>) };
}
