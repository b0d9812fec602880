/** Required in production. Elsewhere, Lectern generates them at the first start (secrets.ts). */
export const secretsOfProduction = [
  'LECTERN_KEY_PEPPER',
  'LECTERN_SIGNING_SECRETS',
  'LECTERN_ASSET_SECRET',
  'LECTERN_COOKIE_SECRET',
] as const;

/** Required in production. Elsewhere, Lectern starts embedded servers and uses the Host header. */
const addressesOfProduction = {
  MONGODB_URI: 'the embedded server has no password: mongodb://host:27017/lectern',
  REDIS_URL: 'the embedded server has no password and does not persist data: redis://host:6379',
  PUBLIC_URL: 'the URL that browsers use: https://lectern.example.com, for a trial http://localhost:3000',
} as const;

type Required = (typeof secretsOfProduction)[number] | keyof typeof addressesOfProduction;

/** Yields each setting that production requires and that is missing, and why it is required. */
export function* productionFaults(
  env: { NODE_ENV: string } & Partial<Record<Required, unknown>>,
): Generator<[Required, string]> {
  if (env.NODE_ENV !== 'production') return;
  for (const [name, why] of Object.entries(addressesOfProduction) as [Required, string][]) {
    if (env[name] === undefined) yield [name, `is required with NODE_ENV=production (${why})`];
  }
  for (const name of secretsOfProduction) {
    if (env[name] !== undefined) continue;
    const form = name === 'LECTERN_SIGNING_SECRETS' ? ', in the form kid:secret' : '';
    yield [name, `is required with NODE_ENV=production (make one with: openssl rand -hex 32${form})`];
  }
}
