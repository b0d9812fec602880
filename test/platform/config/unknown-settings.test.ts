import { expect, test } from 'vitest';
import { warnOfUnknownSettings } from '../../../shared/platform/setting-forms.ts';

const settings = [
  ...['PORT', 'HOST', 'MONGODB_URI', 'REDIS_URL', 'PUBLIC_URL', 'LECTERN_KEY_PEPPER', 'LOGIN_TRIES'],
];

test.each([
  ['MONGO_URI', 'MONGODB_URI'],
  ['MONGODB_URL', 'MONGODB_URI'],
  ['mongodb_uri', 'MONGODB_URI'],
  ['REDIS_URI', 'REDIS_URL'],
  ['LECTERN_KEY_PEPER', 'LECTERN_KEY_PEPPER'],
])('the warning about %s suggests %s', (name, meant) => {
  expect(warnOfUnknownSettings([name], settings)).toStrictEqual([
    `${name} is not a Lectern setting and is ignored. Did you mean ${meant}?`,
  ]);
});

test('unknown LECTERN_ variables cause a warning; settings and other variables do not', () => {
  expect(warnOfUnknownSettings(['LECTERN_COLOUR'], settings)).toStrictEqual([
    'LECTERN_COLOUR is not a Lectern setting and is ignored.',
  ]);
  const others = ['PATH', 'HOME', 'HOSTNAME', 'PORTS', 'MONGO_INITDB_ROOT_PASSWORD', 'npm_config_cache'];
  expect(warnOfUnknownSettings([...settings, ...others], settings)).toStrictEqual([]);
});
