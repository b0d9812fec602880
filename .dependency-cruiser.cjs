/** Imports point one way: api -> shared <- worker; cli -> shared, worker; player takes pure rules only. */
const only = (from, allowed) => ({
  name: `${from}-imports`,
  severity: 'error',
  from: { path: `^${from}/` },
  to: {
    path: '^(api|bench|cli|clients|console|demo|player|shared|simulator|test|worker)/',
    pathNot: `^(${[from, ...allowed].join('|')})(/|$)`,
  },
});

/**
 * Within a process, a folder imports only folders of lower layers: neither its neighbors, nor the entry points at the
 * root.
 */
const layers = {
  api: [
    ['drafts', 'publishing'],
    ['openapi', 'operations', 'console', 'exports', 'imports', 'lessons', 'lti', 'organizations'],
    ['embed', 'media', 'webhooks', 'xapi', 'learners', 'erasure', 'audit'],
    ['player', 'deliveries'],
    ['progress', 'tokens'],
    ['accounts'],
    ['http'],
  ],
  worker: [['operations'], ['exports'], ['imports'], ['deliveries', 'maintenance']],
  shared: [
    ['operations', 'erasure'],
    ['drafts', 'exports', 'imports', 'lti', 'publishing', 'learners'],
    ['outgoing'],
    ['xapi'],
    ['audit', 'webhooks'],
    ['packages'],
    ['converters'],
    ['player'],
    ['widgets'],
    ['assets', 'media'],
    ['models'],
    ['storage', 'tokens', 'accounts', 'deliveries', 'events'],
    ['lms'],
    ['progress'],
    ['lessons'],
    ['embedded', 'theme'],
    ['i18n', 'platform'],
  ],
  cli: [['commands'], ['lessons'], ['widgets', 'themes'], ['installation'], ['terminal']],
};

const layerRules = Object.entries(layers).flatMap(([top, rows]) =>
  rows.flatMap((row, layer) =>
    row.map((folder) => ({
      name: `${top}-layers`,
      comment: 'A folder imports only folders below it: see docs/decisions/0001-stack-and-layout.md.',
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
    // Only the script that writes the types of the client.
    only('clients', ['api', 'shared']),
    {
      name: 'client-has-no-dependencies',
      severity: 'error',
      from: { path: '^clients/typescript/src/' },
      to: { pathNot: '^clients/typescript/src/', dependencyTypesNot: ['core'] },
    },
    only('console', [
      'clients/typescript/src/api.ts',
      'player/build-output.ts',
      'player/build-plugins.ts',
      // build.ts alone: the names of the formats.
      'shared/converters/formats.ts',
      'shared/converters/spreadsheet/template.ts',
      'shared/i18n',
      'shared/lessons',
      'shared/theme',
    ]),
    only('player', [
      'shared/i18n',
      'shared/lessons',
      'shared/lms',
      'shared/progress',
      'shared/theme/tokens.ts',
      'shared/platform/backoff.ts',
      'shared/platform/parse-url.ts',
      'shared/platform/http/web-page.ts',
    ]),
    {
      name: 'runtime-dependencies-only',
      comment: 'What runs in production may import production dependencies only.',
      severity: 'error',
      from: { path: '^(api|cli|shared|worker)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'content-in-child-processes',
      comment:
        'Only child processes read, convert or prepare lessons: see docs/decisions/0063-content-in-child-processes.md.',
      severity: 'error',
      from: {
        pathNot:
          '^(test|bench)/|^shared/(operations/content-process|packages/(package-task|read-package))\\.ts$',
      },
      to: {
        path: '^shared/(player/prepare-lesson|packages/(package-task|convert-blocks))\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      // console/build.ts makes the modules with the messages.
      to: { couldNotResolve: true, pathNot: '^messages:' },
    },
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
