import { playPackage } from './package-page.ts';
import { connectScorm } from './scorm-api.ts';
import { beginScorm } from './scorm-session.ts';

/* The script of a SCORM package's page. */

void playPackage((parts, events) => {
  const version = parts.format === 'scorm12' ? '1.2' : '2004';
  const api = connectScorm(version);
  return api && beginScorm(api, { ...parts, version }, events);
});
