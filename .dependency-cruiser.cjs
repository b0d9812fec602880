/** Imports point one way: api -> shared <- worker; cli -> shared, worker; player takes pure rules only. */
const only = (from, allowed) => ({
  name: `${from}-imports`,
  severity: 'error',
  from: { path: `^${from}/` },
  to: {
    path: '^(api|bench|cli|demo|player|shared|simulator|test|worker)/',
    pathNot: `^(${[from, ...allowed].join('|')})(/|$)`,
  },
});

/**
 * Within a process, a folder imports only folders of lower layers: neither its neighbors, nor the entry points at the
 * root.
 */
const layers = {
  api: [
    ['openapi', 'operations', 'exports', 'lessons', 'lti'],
    ['embed', 'media', 'webhooks', 'xapi', 'deliveries'],
    ['player'],
    ['progress', 'tokens'],
    ['accounts'],
    ['http'],
  ],
  worker: [['operations'], ['exports'], ['deliveries', 'maintenance']],
  shared: [
    ['operations'],
    ['exports', 'lti', 'publishing', 'coordination', 'outgoing'],
    ['xapi'],
    ['webhooks'],
    ['packages', 'player'],
    ['widgets'],
    ['assets', 'media'],
    ['models'],
    ['storage', 'tokens', 'accounts', 'deliveries', 'events'],
    ['lms'],
    ['progress'],
    ['lessons'],
    ['embedded'],
    ['i18n', 'platform'],
  ],
  cli: [['commands'], ['lessons'], ['widgets'], ['installation'], ['terminal']],
};

const layerRules = Object.entries(layers).flatMap(([top, rows]) =>
  rows.flatMap((row, layer) =>
    row.map((folder) => ({
      name: `${top}-layers`,
      comment: 'A folder imports only folders below it: see docs/decisions/0025-import-layers.md.',
      severity: 'error',
      from: { path: `^${top}/${folder}/` },
      to: {
        path: `^${top}/`,
        pathNot: `^${top}/(${[folder, ...rows.slice(layer + 1).flat()].join('|')})/`,
      },
    })),
  ),
);

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules form no cycles, not even through imports of types.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...layerRules,
    only('api', ['shared']),
    only('worker', ['shared']),
    only('shared', []),
    only('cli', ['shared', 'worker']),
    only('simulator', ['cli', 'shared']),
    only('player', [
      'shared/i18n',
      'shared/lessons',
      'shared/lms',
      'shared/progress',
      'shared/platform/backoff.ts',
    ]),
    {
      name: 'runtime-dependencies-only',
      comment: 'What runs in production may import production dependencies only.',
      severity: 'error',
      from: { path: '^(api|cli|shared|worker)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
