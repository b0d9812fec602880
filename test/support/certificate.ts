// cspell:ignore addext keyout noenc paramgen pkeyopt -- options of openssl
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate that signs itself, for servers with TLS at 127.0.0.1. */
export interface Certificate {
  key: Buffer;
  cert: Buffer;
}

/** Creates a certificate in `key.pem` and `cert.pem` of a folder. @throws if this machine has no openssl. */
export function createCertificate(folder: string): Certificate {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...curve, ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
