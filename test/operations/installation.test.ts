import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lecternHere } from '../cli/command-line.ts';
import { temporaryFolder } from '../support/folders.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

/** The result of `lectern doctor` about secrets and store. */
async function doctor(settings: Record<string, string>, ...options: string[]) {
  const { stdout } = await lecternHere({ ...api.environment, ...settings }, 'doctor', '--json', ...options);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] };
  const finding = checks.find(({ name }) => name === 'installation');
  return { ok: finding?.ok, message: finding?.message };
}

const anotherPepper = { LECTERN_KEY_PEPPER: 'another pepper that is long enough as well' };
const anotherStore = async () => ({ LECTERN_STORE_DIR: join(await temporaryFolder(), 'store') });

test('a process with another pepper or another store does not start, and says what to do', async () => {
  await expect(api.startApi(anotherPepper)).rejects.toThrow(
    /^LECTERN_KEY_PEPPER is not the one that API keys were created with\. Set the same one/,
  );
  const store = await anotherStore();
  const fault = /^The store is not the one that the other processes use\. Use the same folder or bucket/;
  await expect(api.startApi(store)).rejects.toThrow(fault);
  await expect(api.startWorker(store)).rejects.toThrow(fault);
  const command = ['key', 'create', '--org', 'acme'];
  const created = await lecternHere({ ...api.environment, ...anotherPepper }, ...command);
  expect(created).toMatchObject({ code: 1, stderr: expect.stringContaining('LECTERN_KEY_PEPPER is not') });
  await api.startApi();
});

test('a replaced secret does not keep a process from starting, and doctor names it', async () => {
  const replaced = { LECTERN_COOKIE_SECRET: 'a cookie secret that has replaced the first one' };
  expect(await doctor({})).toEqual({ ok: true, message: 'secrets and store are those of all processes' });
  expect(await doctor(replaced)).toEqual({
    ok: false,
    message:
      'LECTERN_COOKIE_SECRET differs from the one of the last start. Set the same one in all processes.',
  });
  await api.startApi(replaced);
  expect(await doctor(replaced)).toMatchObject({ ok: true });
  await api.startApi();
});

test('after a loss, doctor --accept makes the present pepper and store those of the installation', async () => {
  const present = { ...anotherPepper, ...(await anotherStore()) };
  expect(await doctor(present)).toMatchObject({ ok: false });
  expect(await doctor(present, '--accept')).toMatchObject({ ok: true });
  await api.startApi(present);
  await expect(api.startApi()).rejects.toThrow('LECTERN_KEY_PEPPER');
});
