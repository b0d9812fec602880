import { expect, test } from 'vitest';
import { isInRanges, readAddressRange } from '../../shared/accounts/allowed-addresses.ts';
import { setAllowedAddresses } from '../../shared/models/api-key.ts';
import { ask, expectError } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';

const api = useApi({ TRUST_PROXY: '1' });

test.each([
  ['203.0.113.7', '203.0.113.7/32', ['203.0.113.7', '::ffff:203.0.113.7'], ['203.0.113.8', '::1']],
  ['203.0.113.7/24', '203.0.113.0/24', ['203.0.113.255'], ['203.0.114.0', 'unknown', '']],
  ['0.0.0.0/0', '0.0.0.0/0', ['198.51.100.1'], ['2001:db8::1']],
  ['2001:DB8::/32', '2001:db8::/32', ['2001:db8:ffff::1'], ['2001:db9::1', '203.0.113.7']],
  ['2001:db8::1', '2001:db8::1/128', ['2001:db8:0::1'], ['2001:db8::2']],
  ['::ffff:203.0.113.7', '203.0.113.7/32', ['203.0.113.7'], ['203.0.113.8']],
])('%s is stored as %s', (text, stored, inside, outside) => {
  expect(readAddressRange(text)).toBe(stored);
  expect([...inside, ...outside].filter((address) => isInRanges(address, [stored]))).toEqual(inside);
});

test.each([
  '',
  'x',
  '1',
  '127.1',
  '0300.0.0.1',
  '10.0.0.0/33',
  '::ffff:192.0.2.0/120',
  '10.0.0.0/-1',
  '1.2.3.4/8/8',
  '10/8',
  '::/129',
  '1.2.3.4 ',
])('"%s" is no range of addresses', (text) => expect(readAddressRange(text)).toBeNull());

test('a key is valid only from its addresses, as the trusted proxy sees them', async () => {
  const { credentials, headers } = await buildOrganization(api);
  const [publicKey = ''] = credentials.split('.');
  await setAllowedAddresses(api.db, publicKey, ['203.0.113.0/24', '2001:db8::/32']);
  const get = (forwarded: string) =>
    ask(`${api.url}/api/lessons`, { headers: { ...headers, 'X-Forwarded-For': forwarded } });
  for (const allowed of ['203.0.113.9', '203.0.113.9:4711', '[2001:db8::5]:443', '198.51.100.1, 203.0.113.9'])
    expect((await get(allowed)).status).toBe(200);
  // What a client claims stands before what the proxy saw.
  for (const other of ['198.51.100.1', '203.0.113.9, 198.51.100.1', '', 'x']) {
    const refused = await get(other);
    expectError(refused, 401, 'Authentication failed');
    expect(refused.headers.get('www-authenticate')).toContain('are not valid from this IP address');
  }
  // Not even addresses that include the proxy's own admit a client whose address it does not know.
  await setAllowedAddresses(api.db, publicKey, ['0.0.0.0/0', '::/0']);
  for (const nothing of ['unknown', '_hidden', '203.0.113.9, x', '203.0.113.9:'])
    expectError(await get(nothing), 401, 'Authentication failed');
  await setAllowedAddresses(api.db, publicKey, null);
  expect((await get('198.51.100.1')).status).toBe(200);
});
