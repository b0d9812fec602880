import { expect, test } from 'vitest';
import { printable } from '../../shared/platform/log.ts';
import { withoutCredentials } from '../../shared/platform/server-urls.ts';

test('characters that control a terminal or the direction of text are escaped', () => {
  expect(printable('a\u001b[31mred\u0007\r\u009b2J\u202eback')).toBe(
    String.raw`a\u001b[31mred\u0007\u000d\u009b2J\u202eback`,
  );
  expect(printable('Ünïcödé, 日本語 and שלום\n\tstay')).toBe('Ünïcödé, 日本語 and שלום\n\tstay');
  const json = JSON.stringify({ title: '\u001b\u009b\u202e' });
  expect(JSON.parse(printable(json))).toStrictEqual(JSON.parse(json));
});

test.each([
  ['redis://:SECRETpa@ss@host', 'redis://host'],
  ['redis://me:pa/ss@host:6379/1', 'redis://host:6379/1'],
  ['mongodb://me:p@ss@h1:1,h2:2/lectern?tlsCertificateKeyFilePassword=secret', 'mongodb://h1:1,h2:2/lectern'],
  ['mongodb://h1/lectern', 'mongodb://h1/lectern'],
])('%s is shown as %s', (address, shown) => {
  expect(withoutCredentials(address)).toBe(shown);
});
