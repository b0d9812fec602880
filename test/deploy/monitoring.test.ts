import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../../shared/platform/paths.ts';
import { findDebianProgram } from '../support/debian-programs.ts';

const run = promisify(execFile);
const promtool = await findDebianProgram('promtool', inject('cacheDir'));
const rulesFile = join(packageRoot, 'deploy', 'prometheus', 'lectern.rules.yaml');

const rulesSchema = z.strictObject({
  groups: z.tuple([
    z.strictObject({
      name: z.literal('lectern'),
      rules: z.array(
        z.strictObject({
          alert: z.string().startsWith('Lectern'),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string() }),
        }),
      ),
    }),
  ]),
});

/** As far as the tests read it; Grafana checks the rest at import. */
const dashboardSchema = z.looseObject({
  title: z.literal('Lectern'),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z
        .array(
          z.looseObject({ datasource: z.looseObject({ uid: z.literal('${datasource}') }), expr: z.string() }),
        )
        .optional(),
    }),
  ),
});

const readRules = async () => rulesSchema.parse(parse(await readFile(rulesFile, 'utf8'))).groups[0].rules;

async function readDashboard() {
  const text = await readFile(join(packageRoot, 'deploy', 'grafana', 'lectern.json'), 'utf8');
  return dashboardSchema.parse(JSON.parse(text));
}

async function readQueries(): Promise<string[]> {
  const { panels } = await readDashboard();
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Returns the series of every metric that the code defines, each with its labels. */
async function readSeries(): Promise<Map<string, string[]>> {
  const series = new Map<string, string[]>();
  for (const folder of ['api', 'shared', 'worker']) {
    for (const file of await readdir(join(packageRoot, folder), { recursive: true })) {
      if (!file.endsWith('.ts')) continue;
      const source = await readFile(join(packageRoot, folder, file), 'utf8');
      const definitions = /new (Counter|Gauge|Histogram)(?:<[^>]*>)?\(\{(.*?name: '(lectern_\w+)'.*?)\}\)/gs;
      for (const [, type, body = '', name = ''] of source.matchAll(definitions)) {
        const listed = /labelNames(?:: |\b.*labelNames = )\[(.*?)\]/s.exec(body)?.[1] ?? '';
        const labels = [...listed.matchAll(/'(\w+)'/g)].map(([, label = '']) => label);
        if (type !== 'Histogram') series.set(name, labels);
        else {
          for (const end of ['_count', '_sum']) series.set(name + end, labels);
          series.set(`${name}_bucket`, [...labels, 'le']);
        }
      }
    }
  }
  return series;
}

test('the rules for Prometheus are the alerts of docs/operate/monitor.md', async () => {
  const page = await readFile(join(packageRoot, 'docs', 'operate', 'monitor.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(Lectern\w+)` +\| `(.+?)`(?: for (\d+) minutes?)? +\|/gm)];
  expect(rows.length).toBeGreaterThan(10);
  const documented = rows.map(([, alert, expr = '', minutes]) => ({
    alert,
    expr: expr.replaceAll(String.raw`\|`, '|'),
    for: minutes === undefined ? undefined : `${minutes}m`,
  }));
  const rules = await readRules();
  expect(rules.map(({ alert, expr, for: time }) => ({ alert, expr, for: time }))).toEqual(documented);
});

test('rules and dashboard ask for metrics and labels that the code defines', async () => {
  const series = await readSeries();
  expect(series.size).toBeGreaterThan(30);
  const queries = [...(await readRules()).map(({ expr }) => expr), ...(await readQueries())];
  for (const query of queries) {
    const names = query.match(/\blectern_\w+/g) ?? [];
    expect(names, query).not.toEqual([]);
    for (const name of names) expect([...series.keys()]).toContain(name);
    const known = new Set(['instance', 'release', ...names.flatMap((name) => series.get(name) ?? [])]);
    const used = [
      ...[...query.matchAll(/\b(?:by|on) \((.*?)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...query.matchAll(/[{,]\s*(\w+)[!=]/g)].map(([, label = '']) => label),
    ];
    for (const label of used) expect(known, query).toContain(label);
  }
});

describe.skipIf(promtool === null)('with promtool', () => {
  const check = async (command: string[], content: object) => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-promtool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'checked.yaml');
    await writeFile(file, stringify(content));
    return run(String(promtool), [...command, file]);
  };

  test('every query of the dashboard is valid PromQL', async () => {
    const queries = await readQueries();
    const rules = queries.map((query, index) => ({
      record: `query_${index}`,
      expr: query.replaceAll('$__rate_interval', '5m'),
    }));
    const { stdout } = await check(['check', 'rules'], { groups: [{ name: 'dashboard', rules }] });
    expect(stdout).toContain(`SUCCESS: ${queries.length} rules found`);
  });

  const healthy = {
    'lectern_check_ok{check="mongodb"}': '1x60',
    lectern_export_queue_oldest_waiting_seconds: '0x60',
    lectern_workers: '2x60',
    'lectern_export_queue_jobs{state="waiting"}': '1x60',
    lectern_export_builds_running: '1x60',
    'lectern_export_build_failures_total{reason="internal_error"}': '0x60',
    'lectern_export_build_failures_total{reason="store_full"}': '0x60',
    'lectern_export_build_failures_total{reason="not_found"}': '0+5x60',
    lectern_export_builds_taken_over_total: '0x60',
    'lectern_import_seconds_count{outcome="imported"}': '0+5x60',
    'lectern_import_seconds_count{outcome="failed"}': '0x60',
    'lectern_deliveries_oldest_due_seconds{kind="xapi"}': '5x60',
    'lectern_xapi_destinations{state="rejected"}': '0x60',
    lectern_outbox_fill_ratio: '0x60',
    lectern_lti_scores_oldest_due_seconds: '5x60',
    'lectern_lti_scores{state="failed"}': '0x60',
    'lectern_http_request_seconds_count{status="2xx"}': '0+1000x60',
    'lectern_http_request_seconds_count{status="5xx"}': '0+1x60',
  };

  /** What fires one alert each: the series that differ from a healthy installation. */
  const faults: Record<string, Partial<Record<keyof typeof healthy, string>>> = {
    LecternCheckFails: { 'lectern_check_ok{check="mongodb"}': '0x60' },
    LecternExportsWait: { lectern_export_queue_oldest_waiting_seconds: '300x60' },
    LecternNoApi: { lectern_workers: '_x60' },
    LecternNoWorker: { lectern_workers: '0x60' },
    LecternQueueStuck: { lectern_export_builds_running: '_x60' },
    LecternBuildsFail: {
      'lectern_export_build_failures_total{reason="internal_error"}': '0+1x60',
    },
    LecternStoreFull: { 'lectern_export_build_failures_total{reason="store_full"}': '0x35 1x25' },
    LecternWorkersCrash: { lectern_export_builds_taken_over_total: '0x30 1+1x30' },
    LecternImportsFail: { 'lectern_import_seconds_count{outcome="failed"}': '0x35 1x25' },
    LecternEventsWait: { 'lectern_deliveries_oldest_due_seconds{kind="xapi"}': '300x60' },
    LecternLrsRejects: { 'lectern_xapi_destinations{state="rejected"}': '1x60' },
    LecternOutboxFills: { lectern_outbox_fill_ratio: '0.6x60' },
    LecternGradesWait: { lectern_lti_scores_oldest_due_seconds: '300x60' },
    LecternGradesFail: { 'lectern_lti_scores{state="failed"}': '1x60' },
    LecternApiErrors: { 'lectern_http_request_seconds_count{status="5xx"}': '0+50x60' },
  };

  test('each fault fires its alert, and a healthy installation none', async () => {
    const rules = await readRules();
    expect(Object.keys(faults).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    const at = '40m';
    const tests = [['', {}] as const, ...Object.entries(faults)].map(([name, changed]) => ({
      interval: '1m',
      input_series: Object.entries({ ...healthy, ...changed }).map(([series, values]) => ({
        series,
        values,
      })),
      // The labels of an alert, which promtool would compare in whole, depend on its query.
      promql_expr_test: rules.map(({ alert }) => ({
        expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) > 0`,
        eval_time: at,
        exp_samples: alert === name ? [{ labels: '{}', value: 1 }] : [],
      })),
    }));
    const content = { rule_files: [rulesFile], evaluation_interval: '1m', tests };
    const { stdout } = await check(['test', 'rules'], content);
    expect(stdout).toContain('SUCCESS');
  });
});
