import { recordOf } from '../../shared/lessons/json-values.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';
import { sourceOf } from '../archive-page/inline-files.ts';
import { readLaunch } from './cmi5-launch.ts';
import { beginCmi5 } from './cmi5-session.ts';
import { playPackage } from './package-page.ts';

/* The script of a cmi5 package's page. */

const launch = readLaunch(takeQuery());
const servers = [launch?.endpoint ?? '', launch?.fetchUrl ?? '']
  .map((url) => parseUrl(url))
  .filter((url) => url !== null);
// Platforms redirect to other servers of theirs. Only the player's own scripts may send there: frames of widgets may not.
void playPackage((setup, events) => beginCmi5(launch, setup, events), [...servers.map(sourceOf), 'https:']);

/**
 * Removes the query from the page's URL, which frames of widgets can read: it names the learner. It stays in the entry of
 * the browser's history, for a page that the browser has discarded.
 */
function takeQuery(): string {
  const { lecternLaunch: kept } = recordOf(history.state);
  const query = location.search || (typeof kept === 'string' ? kept : '');
  history.replaceState({ lecternLaunch: query }, '', location.pathname);
  return query;
}
